import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { type ClientSettings, connect } from "./client.ts";

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

async function server(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
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

function answering(status: number, body: string) {
  return server((_, response) => response.writeHead(status).end(body));
}

function client(url: string, more: Partial<ClientSettings> = {}) {
  return connect({ url, key: "key-of-the-test", timeoutMs: 5000, ...more });
}

async function failure(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AppError) return error;
  throw new Error(`expected an AppError, got ${error}`);
}

describe("a request of the client", () => {
  test("carries key, query, body and headers", async () => {
    let seen: unknown;
    const url = await server((request, response) => {
      const { method, url: path, headers } = request;
      seen = { method, path, key: headers.authorization, type: headers["content-type"], own: headers["x-own"] };
      response.end('{"ok":true}');
    });
    const request = { method: "POST", query: { a: 1, none: undefined }, body: {}, headers: { "x-own": "1" } } as const;
    expect(await client(`${url}/base`).json("/v1/x", request)).toEqual({ ok: true });
    const expected = {
      method: "POST",
      path: "/base/v1/x?a=1",
      key: "Bearer key-of-the-test",
      type: "application/json",
      own: "1",
    };
    expect(seen).toEqual(expected);
  });

  test("without a key has no authorization", async () => {
    let seen: string | undefined = "unseen";
    const url = await server((request, response) => {
      seen = request.headers.authorization;
      response.end("{}");
    });
    await client(url, { key: undefined }).json("/");
    expect(seen).toBeUndefined();
  });
});

describe("an error of the server", () => {
  test("is rebuilt with its code, its words and its details", async () => {
    const envelope = { error: "run_terminal", message: "In the server's words.", details: { runId: "run-1" } };
    const url = await answering(409, JSON.stringify(envelope));
    const error = await failure(client(url).json("/"));
    expect(error).toMatchObject({ code: "run_terminal", message: envelope.message, details: envelope.details });
  });

  test.each([
    [401, "unauthenticated"],
    [403, "forbidden"],
    [418, "validation_error"],
    [599, "unavailable"],
  ])("with a code of tomorrow and status %i counts as %s", async (status, code) => {
    const url = await answering(status, '{"error":"brand_new","message":"New."}');
    expect(await failure(client(url).json("/"))).toMatchObject({
      code,
      message: "New.",
      details: { serverCode: "brand_new" },
    });
  });

  test("about the key says where keys come from", async () => {
    const url = await answering(401, '{"error":"unauthenticated","message":"x"}');
    expect((await failure(client(url).json("/"))).message).toContain("does not know this API key");
    expect((await failure(client(url, { key: undefined }).json("/"))).message).toContain("set ASSAY_KEY");
  });
});

describe("a server that is none", () => {
  test("because nobody listens is unreachable", async () => {
    expect(await failure(client("http://127.0.0.1:9").json("/"))).toMatchObject({ code: "unreachable" });
  });

  test("because it takes too long is unreachable", async () => {
    const url = await server(() => {});
    const error = await failure(client(url, { timeoutMs: 50 }).json("/"));
    expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining("did not answer in time") });
  });

  test("because it is something else is unreachable", async () => {
    const wrong = await answering(502, "<html>Bad gateway</html>");
    expect((await failure(client(wrong).json("/"))).message).toContain(
      "502 with something that is not an answer of Assay",
    );
    const garbled = await answering(200, "<html>");
    const error = await failure(client(garbled).json("/"));
    expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining("is not an Assay server") });
  });

  test("because it speaks no TLS is unreachable, in one line", async () => {
    const url = await answering(200, "{}");
    const { message } = await failure(client(url.replace("http:", "https:")).json("/"));
    expect(message).toMatch(
      /^No answer from https:\S+: it does not speak TLS, so the address begins with http, not https\. /,
    );
  });

  test("because its stream does not begin is unreachable", async () => {
    const url = await server(() => {});
    const never = new AbortController().signal;
    expect(await failure(client(url, { timeoutMs: 50 }).open("/", {}, never))).toMatchObject({ code: "unreachable" });
  });
});
