import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { answerLines } from "../../reviews/provider/stream-ids.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { defaultConfig } from "../settings/config.ts";
import type { ProvideCall } from "./provide.ts";
import { provideFromServer } from "./provide-from-server.ts";

const opened: { close(): void }[] = [];
afterEach(() => {
  vi.unstubAllGlobals();
  for (const server of opened.splice(0)) server.close();
});

async function server(answer: RequestListener): Promise<string> {
  const made = createServer(answer);
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  opened.push({
    close: () => {
      made.closeAllConnections();
      made.close();
    },
  });
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

const LINES = answerLines("ses_0123456789abABCDEFGHIJKLMN", '{"status":"success"}');

async function provide(url: string, timeoutMs = 20_000) {
  const io = recordedIo();
  const config = { ...defaultConfig(), url, key: "key-of-the-test", timeoutMs };
  const flags = { agent: undefined, session: undefined, continue: false, fork: false, format: "json" };
  const call = { args: [], flags, json: false, config, given: new Set(["url", "timeoutMs"]), io };
  const exit = await provideFromServer(call as unknown as ProvideCall, Buffer.from('{"a":"é"}'));
  return { exit, out: io.outText() };
}

describe("a turn on a server", () => {
  test("is not asked for by fetch, which waits five minutes for an answer to begin and no longer", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("fetch failed")));
    const seen: unknown[] = [];
    const url = await server(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const { method, url: path, headers } = request;
      seen.push([method, path, headers.authorization, headers.accept, Buffer.concat(parts).toString()]);
      response.end(LINES);
    });
    expect(await provide(url)).toEqual({ exit: 0, out: LINES });
    expect(seen).toEqual([
      [
        "POST",
        "/v1/host/assay/afp/run?agent=qualitative-reviewer",
        "Bearer key-of-the-test",
        "application/x-ndjson",
        '{"a":"é"}',
      ],
    ]);
  });

  test.each<[string, RequestListener]>([
    ["does not begin", () => {}],
    ["does not end", (_, response) => void response.write("{")],
  ])("whose answer %s in time is given up", async (_, answer) => {
    const url = await server(answer);
    await expect(provide(url, 100)).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("it did not answer in time"),
    });
  });

  test("is not asked for where the server sends us: the key is for nobody else", async () => {
    let followed = 0;
    const elsewhere = await server((_, response) => {
      followed++;
      response.end(LINES);
    });
    const url = await server((_, response) => void response.writeHead(307, { location: elsewhere }).end());
    await expect(provide(url)).rejects.toMatchObject({ code: "unreachable" });
    expect(followed).toBe(0);
  });

  test("that cannot be asked for says why", async () => {
    await expect(provide("http://127.0.0.1:1")).rejects.toMatchObject({
      code: "unreachable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    const url = await server((_, response) => void response.end());
    await expect(provide(url.replace("http:", "https:"))).rejects.toMatchObject({
      message: expect.stringContaining("does not speak TLS"),
    });
  });
});
