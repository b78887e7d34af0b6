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

async function failure(promise: PromiseLike<unknown>): Promise<AppError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AppError) return error;
  throw new Error(`expected an AppError, got ${error}`);
}

describe("an error of the server", () => {
  test("is rebuilt with its code, its words and its details", async () => {
    const envelope = { error: "run_terminal", message: "In the server's words.", details: { runId: "run-1" } };
    const url = await answering(409, JSON.stringify(envelope));
    const error = await failure(client(url).runs.get("run-1"));
    expect(error).toMatchObject({ code: "run_terminal", message: envelope.message, details: envelope.details });
  });

  test.each([
    [401, "unauthenticated"],
    [403, "forbidden"],
    [418, "validation_error"],
    [599, "unavailable"],
  ])("with a code of tomorrow and status %i counts as %s", async (status, code) => {
    const url = await answering(status, '{"error":"brand_new","message":"New."}');
    expect(await failure(client(url).runs.get("run-1"))).toMatchObject({
      code,
      message: "New.",
      details: { serverCode: "brand_new" },
    });
  });

  test("about the key says where keys come from", async () => {
    const url = await answering(401, '{"error":"unauthenticated","message":"x"}');
    expect((await failure(client(url).runs.get("run-1"))).message).toContain("does not know this API key");
    expect((await failure(client(url, { key: undefined }).runs.get("run-1"))).message).toContain("set ASSAY_KEY");
  });
});

describe("a server that is none", () => {
  test("because nobody listens is unreachable", async () => {
    expect(await failure(client("http://127.0.0.1:9").runs.get("run-1"))).toMatchObject({ code: "unreachable" });
  });

  test("because it takes too long is unreachable", async () => {
    const url = await server(() => {});
    const error = await failure(client(url, { timeoutMs: 50 }).runs.get("run-1"));
    expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining("did not answer in time") });
  });

  test("because it is something else is unreachable", async () => {
    const wrong = await answering(502, "<html>Bad gateway</html>");
    expect((await failure(client(wrong).runs.get("run-1"))).message).toContain(
      "502 with something that is not an answer of Assay",
    );
    const garbled = await answering(200, "<html>");
    const error = await failure(client(garbled).runs.get("run-1"));
    expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining("is not an Assay server") });
  });

  test("because it speaks no TLS is unreachable, in one line", async () => {
    const url = await answering(200, "{}");
    const { message } = await failure(client(url.replace("http:", "https:")).runs.get("run-1"));
    expect(message).toMatch(
      /^No answer from https:\S+: it does not speak TLS, so the address begins with http, not https\. /,
    );
  });

  test("because its stream does not begin is unreachable", async () => {
    const url = await server(() => {});
    const read = async () => {
      for await (const _ of client(url, { timeoutMs: 50 }).gates.follow()) break;
    };
    expect(await failure(read())).toMatchObject({ code: "unreachable" });
  });
});

test("a name that cannot stand in a path is refused, and nothing is sent", async () => {
  const asked = async () => client("http://127.0.0.1:9").runs.get("..");
  expect(await failure(asked())).toMatchObject({ code: "unusable_input" });
});
