import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillPath } from "../../../src/http/pipeline/read-url.ts";
import type { Operation } from "../../../src/protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../../../src/protocol/operations.ts";
import { bearer, expectError, KEYS, type TestHost, testHost } from "../../../src/testing/host.ts";
import { rawHttp } from "../../../src/testing/raw-http.ts";

const LIMIT = 64 * 1024;
const NAMED = (runId: string) => ({
  runId,
  keyId: "none",
  webhookId: "none",
  nodeId: "none",
  // Nothing that comes with a token is looked at unless the token is good.
  token: host.host.tokens.mint({ runId, nodeId: "none", interruptId: "none", expiresAt: LATER, intent: "resolve" }),
  principal: "none",
  annotationId: "none",
  queueId: "none",
  itemId: "none",
  hash: "none",
  sha256: "none",
  sessionId: "none",
  remarkId: "none",
  suiteRef: "acme.evals.none@1.0.0",
  agentId: "none",
  suiteId: "none",
  baseline: "none",
  taskId: "none",
  subject: "none",
  certificateId: "none",
});
const LATER = new Date(Date.now() + 3_600_000).toISOString();
let host: TestHost;
let url: string;
let runId: string;
beforeAll(async () => {
  const settings = {
    maxRequestBodyBytes: LIMIT,
    maxTapeBytes: LIMIT,
    headersTimeoutMs: 300,
    requestTimeoutMs: 600,
    maxHeaderBytes: 8192,
  };
  host = await testHost({ settings });
  url = await host.listen();
  runId = await host.newRun();
});
afterAll(() => host.close());

const withBody = (Object.entries(OPERATIONS) as [OperationId, Operation][]).filter(
  ([, { body }]) => body !== undefined,
);
const deep = (open: string, close: string) => `${open.repeat(10_000)}1${close.repeat(10_000)}`;

const HOSTILE: Readonly<Record<string, string | Buffer>> = {
  "half an object": '{"workflowId":',
  "two objects": "{}{}",
  "an array": "[]",
  "a string": '"text"',
  null: "null",
  "a number": "42",
  "deep arrays": deep("[", "]"),
  "deep objects": deep('{"a":', "}"),
  "many elements": `[${"0,".repeat(30_000)}0]`,
  "wrong types": '{"workflowId":7,"runIds":"x","reason":{},"principal":[],"nodes":null,"drainPolicy":1,"action":[]}',
  "unknown members": '{"zzz":1}',
  "a prototype": '{"__proto__":{"workflowId":"noop"},"constructor":{"prototype":{}}}',
  "half a surrogate pair": '{"workflowId":"\\ud800","reason":"\\udfff","principal":"\\ud800"}',
  "numbers out of range": '{"inputs":{"a":1e999},"workflowId":"noop"}',
  "a NUL": '{"workflowId":"a\\u0000b","reason":"\\u0000","principal":"\\u0000"}',
  "UTF-16": Buffer.from('{"workflowId":"noop"}', "utf16le"),
  "bytes that are no text": Buffer.from([0xff, 0xfe, 0x00, 0x80]),
  "a byte order mark": "\ufeff{}",
  "long strings": JSON.stringify({
    workflowId: "x".repeat(50_000),
    reason: "y".repeat(5000),
    principal: "z".repeat(999),
  }),
};

describe.each(withBody)("%s", (_, operation) => {
  test.each(Object.entries(HOSTILE))("refuses %s with the envelope", async (_, body) => {
    const { method, path } = operation;
    const response = await host.ask(method, fillPath(path, NAMED(runId)), { body });
    expect(response.statusCode, response.payload).toBeGreaterThanOrEqual(400);
    expect(response.statusCode, response.payload).toBeLessThan(500);
    expectError(response, response.json().error);
  });

  test.each(["text/plain", "application/xml", "application/json; charset=utf-16", "application/jsonx", "///", ""])(
    "refuses a body of type %j",
    async (type) => {
      const { method, path } = operation;
      const headers = { "content-type": type };
      const target = fillPath(path, NAMED(runId));
      expectError(await host.ask(method, target, { body: "{}", headers }), "unsupported_media_type");
    },
  );
});

test.each(["/v1/runs/a%00b", "/v1/workflows/%00", "/v1/runs/a%1fb/cancel", "/v1/runs/a%0d%0ab"])(
  "%s names nothing",
  async (path) => {
    expectError(await host.ask("GET", path), "not_found");
  },
);

test.each(["cursor=%00", "workflowId=a%00b"])("?%s is refused", async (query) => {
  expectError(await host.ask("GET", `/v1/runs?${query}`), "validation_error");
});

test("a compressed body is refused", async () => {
  const headers = { "content-encoding": "gzip" };
  expectError(await host.ask("POST", "/v1/runs", { body: "{}", headers }), "unsupported_media_type");
});

test("the usual ways to say JSON are all taken", async () => {
  for (const type of ["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"']) {
    const headers = { "content-type": type };
    expect(await host.ask("POST", "/v1/runs", { body: '{"workflowId":"noop"}', headers })).toMatchObject({
      statusCode: 201,
    });
  }
});

const HEAD = `POST /v1/runs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEYS.owner.key}\r\nContent-Type: application/json\r\n`;

function errorOf(answer: { status: number; headers: Readonly<Record<string, string>>; body: string }) {
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.headers["x-request-id"]).toMatch(/^req-/);
  return { status: answer.status, error: JSON.parse(answer.body).error };
}

/** Writes until the other side has had enough; gives the number of bytes it took. */
async function pour(socket: Socket, chunk: string): Promise<number> {
  let sent = 0;
  while (!socket.destroyed && sent < 50_000_000) {
    if (!socket.write(chunk)) await Promise.race([new Promise((done) => socket.once("drain", done)), sleep(50)]);
    sent += chunk.length;
  }
  return sent;
}

describe("a body larger than the limit", () => {
  test("that says so is refused before it is read", async () => {
    const answer = await rawHttp(url, (socket) => void socket.write(`${HEAD}Content-Length: 99999999\r\n\r\n`));
    expect(errorOf(answer)).toEqual({ status: 413, error: "payload_too_large" });
    expect(JSON.parse(answer.body).details).toEqual({ limitBytes: LIMIT });
  });

  test("that does not say so is cut off soon after", async () => {
    let sent = 0;
    const answer = await rawHttp(url, async (socket) => {
      socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
      sent = await pour(socket, `4000\r\n${" ".repeat(0x4000)}\r\n`);
    });
    expect(errorOf(answer)).toEqual({ status: 413, error: "payload_too_large" });
    expect(sent).toBeLessThan(20_000_000);
  });

  test("gets its answer in full when the client sends to the end, and the connection goes on", async () => {
    const response = await fetch(`${url}/v1/runs`, {
      method: "POST",
      headers: { ...bearer("owner"), "content-type": "application/json" },
      body: " ".repeat(LIMIT + 1),
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: "payload_too_large" });
  });

  test("of exactly the limit is read", async () => {
    const body = '{"workflowId":"noop"}'.padEnd(LIMIT);
    expect(await host.ask("POST", "/v1/runs", { body })).toMatchObject({ statusCode: 201 });
  });
});

describe("a caller who is not known", () => {
  test("cannot make the host read a large body", async () => {
    let sent = 0;
    const head = HEAD.replace(KEYS.owner.key, "nobody-knows-this-key");
    const answer = await rawHttp(url, async (socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      sent = await pour(socket, `4000\r\n${" ".repeat(0x4000)}\r\n`);
    });
    expect(errorOf(answer)).toEqual({ status: 401, error: "unauthenticated" });
    expect(sent).toBeLessThan(20_000_000);
  });
});

describe("a request that leaves open whom it is for or from is refused", () => {
  const closing = "Connection: close\r\n\r\n";
  test.each([
    ["without a host", `GET /healthz HTTP/1.1\r\n${closing}`],
    ["with two hosts", `GET /healthz HTTP/1.1\r\nHost: a\r\nhost: b\r\n${closing}`],
    ["with two credentials", `${HEAD.replace("POST", "GET")}AUTHORIZATION: Bearer ${KEYS.viewer.key}\r\n${closing}`],
    ["to nowhere, without a host", `GET /v1/nowhere HTTP/1.1\r\n${closing}`],
  ])("%s", async (_, bytes) => {
    const answer = await rawHttp(url, (socket) => void socket.write(bytes));
    expect(errorOf(answer)).toEqual({ status: 400, error: "validation_error" });
  });

  test("with chunks in HTTP/1.0, and what looks like the next request is not begun", async () => {
    const body = '{"workflowId":"noop"}';
    const runs = async () => (await host.ask("GET", "/v1/runs?limit=200")).json().runs.length;
    const before = await runs();
    const first = `${HEAD.replace("HTTP/1.1", "HTTP/1.0")}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    const answer = await rawHttp(
      url,
      (socket) => void socket.write(`${first}${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`),
    );
    expect(errorOf(answer)).toEqual({ status: 400, error: "validation_error" });
    expect(await runs()).toBe(before);
  });

  test("but HTTP/1.0 asks for no host", async () => {
    expect(await rawHttp(url, (socket) => void socket.write("GET /healthz HTTP/1.0\r\n\r\n"))).toMatchObject({
      status: 200,
    });
  });
});

test("an expectation nobody knows changes nothing", async () => {
  const bytes = "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n";
  expect(await rawHttp(url, (socket) => void socket.write(bytes))).toMatchObject({ status: 200 });
});

test("a body in a transfer coding other than chunks is refused", async () => {
  const bytes = `${HEAD}Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
  const answer = await rawHttp(url, (socket) => void socket.write(bytes));
  expect(errorOf(answer)).toEqual({ status: 415, error: "unsupported_media_type" });
});

describe("a connection that speaks no proper HTTP", () => {
  test.each([
    ["is not HTTP at all", "hello\r\n\r\n", 400],
    ["has a header without a name", "GET /v1/runs HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400],
    ["smuggles a second length", `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ["gives a length and chunks", `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ["asks for a proxy", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n", 400],
  ])("and %s gets the envelope", async (_, bytes, status) => {
    expect(errorOf(await rawHttp(url, (socket) => void socket.write(bytes)))).toEqual({
      status,
      error: "validation_error",
    });
  });

  test("and has headers that are too large is told the limit", async () => {
    const bytes = `GET /v1/runs HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(9000)}\r\n\r\n`;
    const answer = await rawHttp(url, (socket) => void socket.write(bytes));
    expect(errorOf(answer)).toEqual({ status: 431, error: "headers_too_large" });
    expect(JSON.parse(answer.body).details).toEqual({ limitBytes: 8192 });
  });

  test("and sends garbage behind a request still gets the answer to the request", async () => {
    const body = '{"workflowId":"noop"}';
    const bytes = `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}garbage\r\n\r\n`;
    const answer = await rawHttp(url, (socket) => void socket.write(bytes));
    expect(answer.status).toBe(201);
    expect(answer.body).not.toContain("HTTP/1.1");
  });

  test("and never ends its headers is cut off", async () => {
    const answer = await rawHttp(url, (socket) => void socket.write("GET /v1/runs HTTP/1.1\r\nHost: x\r\n"));
    expect(errorOf(answer)).toEqual({ status: 408, error: "request_timeout" });
  });

  test("and never ends its body is cut off", async () => {
    const answer = await rawHttp(url, (socket) => void socket.write(`${HEAD}Content-Length: 50\r\n\r\n{"work`));
    expect([0, 408]).toContain(answer.status);
  });

  test("and sends garbage while it follows a stream finds nothing of ours in it", async () => {
    const request = `GET /v1/runs/${runId}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEYS.owner.key}\r\n\r\n`;
    const answer = await rawHttp(url, async (socket) => {
      socket.write(request);
      await new Promise((resolve) => socket.once("data", resolve));
      socket.write("garbage\r\n\r\n");
    });
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    expect(answer.body).not.toContain("HTTP/1.1");
  });

  test("and goes away in the middle of its body is forgotten without an error", async () => {
    const errors = () => host.logged.filter(({ level }) => level === "error").length;
    const before = errors();
    await rawHttp(url, async (socket) => {
      socket.write(`${HEAD}Content-Length: 50\r\n\r\n{"work`);
      await sleep(50);
      socket.destroy();
    });
    await sleep(50);
    expect(errors()).toBe(before);
  });
});
