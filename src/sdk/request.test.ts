import { describe, expect, test } from "vitest";
import { connect } from "./connect.ts";
import {
  AbortError,
  ApiError,
  AssayError,
  ConflictError,
  ConnectionError,
  NotFoundError,
  TimeoutError,
} from "./errors.ts";
import type { ClientSettings } from "./settings.ts";

interface Seen {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

type Answer = Response | Error | "never";

/** A client whose requests get these answers, one after the other; the last one stays. */
function client(answers: readonly Answer[], settings: Partial<ClientSettings> = {}) {
  const seen: Seen[] = [];
  const fetch: ClientSettings["fetch"] = async (url, { method = "", headers, body, signal }) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    seen.push({ url, method, headers: new Headers(headers), body });
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer.clone();
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  };
  return { seen, assay: connect({ url: "http://host/base/", key: "key", fetch, ...settings }) };
}

function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers });
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return json({ error, message: `The message of ${error}.`, details: { a: 1 } }, status, headers);
}

function failure(promise: PromiseLike<unknown>): Promise<AssayError> {
  return Promise.resolve(promise).then(
    () => Promise.reject(new Error("expected a failure")),
    (error) => error,
  );
}

const SOON = { "retry-after": "0" };

describe("a call", () => {
  test("sends path, query, body, key and the caller's headers", async () => {
    const { seen, assay } = client([json({ runs: [] })], { headers: { "x-ours": "1" } });
    await assay.runs.list({ status: "failed", limit: 5 }, { headers: { "x-own": "2" } });
    expect(seen[0]).toMatchObject({ method: "GET", url: "http://host/base/v1/runs?status=failed&limit=5" });
    const { headers } = seen[0] as Seen;
    expect([headers.get("authorization"), headers.get("x-ours"), headers.get("x-own")]).toEqual([
      "Bearer key",
      "1",
      "2",
    ]);
    expect([headers.has("content-type"), headers.has("idempotency-key")]).toEqual([false, false]);
  });

  test("writes what a path parameter holds as one segment, and refuses an empty one", async () => {
    const { seen, assay } = client([json({})]);
    await assay.runs.cancel("a/../b?c", { reason: "x" });
    expect(seen[0]).toMatchObject({ url: "http://host/base/v1/runs/a%2F..%2Fb%3Fc/cancel", body: '{"reason":"x"}' });
    expect(() => assay.runs.get("")).toThrow(AssayError);
    expect(() => assay.runs.get(".")).toThrow(AssayError);
  });

  test("with a body takes the query among its options", async () => {
    const { seen, assay } = client([json({})]);
    await assay.gates.resolve("run-1", "gate", { resumeValue: 1 }, { query: { revision: 2 } });
    expect(seen[0]).toMatchObject({ url: "http://host/base/v1/runs/run-1/interrupts/gate?revision=2" });
  });

  test("sends a body that is text or bytes as it is", async () => {
    const { seen, assay } = client([json({})]);
    await assay.suites.put("a@1", '{"exact": 1.0}');
    expect(seen[0]?.body).toBe('{"exact": 1.0}');
  });

  test("gives its answer, and the response with it on request", async () => {
    const { assay } = client([json({ runId: "run-1" }, 200, { "x-request-id": "req-1" })]);
    expect(await assay.runs.get("run-1")).toEqual({ runId: "run-1" });
    const { data, response } = await assay.runs.get("run-1").withResponse();
    expect([data.runId, response.headers.get("x-request-id")]).toEqual(["run-1", "req-1"]);
    expect(await (await assay.runs.get("run-1").asResponse()).text()).toBe('{"runId":"run-1"}');
  });

  test("without a key sends none", async () => {
    const { seen, assay } = client([json({})], { key: undefined });
    await assay.host.discovery();
    expect(seen[0]?.headers.has("authorization")).toBe(false);
  });

  test("that is answered with nothing gives nothing", async () => {
    const { assay } = client([new Response(null, { status: 204 })]);
    expect(await assay.webhooks.delete("hook-1")).toBeUndefined();
  });
});

describe("an error", () => {
  test("has the server's code, words, details and request id, in a class for its status", async () => {
    const { assay } = client([refusal(404, "not_found", { "x-request-id": "req-9" })]);
    const error = await failure(assay.runs.get("run-1"));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).not.toBeInstanceOf(ConflictError);
    const expected = { status: 404, code: "not_found", requestId: "req-9", details: { a: 1 }, name: "NotFoundError" };
    expect(error).toMatchObject({ ...expected, message: "The message of not_found." });
  });

  test("is recognised by another copy of its class", async () => {
    const Copy = Object.defineProperty(class {}, Symbol.hasInstance, {
      value: (error: object) => Symbol.for("@assay/sdk ApiError") in error,
    });
    expect(await failure(client([refusal(409, "x")]).assay.runs.get("a"))).toBeInstanceOf(Copy);
  });

  test("of something that is not Assay says so", async () => {
    const { assay } = client([new Response("<html>", { status: 502 })], { retries: 0 });
    expect(await failure(assay.runs.get("a"))).toMatchObject({ status: 502, code: "unknown" });
    const garbled = client([new Response("<html>")]);
    expect(await failure(garbled.assay.runs.get("a"))).toBeInstanceOf(ConnectionError);
  });

  test("of the connection, of time and of the caller have classes of their own", async () => {
    const lost = client([new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") })], { retries: 0 });
    const error = await failure(lost.assay.runs.get("a"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toBe("No answer from http://host/base/: ECONNREFUSED");
    const slow = client(["never"], { retries: 0, timeoutMs: 5 });
    expect(await failure(slow.assay.runs.get("a"))).toBeInstanceOf(TimeoutError);
    const abort = new AbortController();
    const asked = failure(client(["never"]).assay.runs.get("a", { signal: abort.signal }));
    abort.abort();
    expect(await asked).toBeInstanceOf(AbortError);
  });
});

describe("a request that fails", () => {
  test("is repeated twice when it may succeed later, writes with one idempotency key", async () => {
    const { seen, assay } = client([refusal(503, "unavailable", SOON), refusal(429, "rate_limited", SOON), json({})]);
    await assay.runs.start({ workflowId: "a" });
    expect(seen).toHaveLength(3);
    const keys = new Set(seen.map(({ headers }) => headers.get("idempotency-key")));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    await assay.runs.start({ workflowId: "a" }, { idempotencyKey: "mine" });
    expect(seen.at(-1)?.headers.get("idempotency-key")).toBe("mine");
  });

  test("is given up after the repeats", async () => {
    const { seen, assay } = client([refusal(503, "unavailable", SOON)]);
    expect(await failure(assay.runs.get("a"))).toMatchObject({ code: "unavailable" });
    expect(seen).toHaveLength(3);
  });

  test.each([400, 401, 403, 404, 409, 410, 422])("with %i is not repeated", async (status) => {
    const { seen, assay } = client([refusal(status, "x")]);
    await failure(assay.runs.start({ workflowId: "a" }));
    expect(seen).toHaveLength(1);
  });

  test("with a conflict that passes is repeated when the server says when", async () => {
    const { seen, assay } = client([refusal(409, "idempotency_in_flight", SOON), json({})]);
    await assay.runs.start({ workflowId: "a" });
    expect(seen).toHaveLength(2);
  });

  test("is not repeated when the server wants to be left alone for long", async () => {
    const { seen, assay } = client([refusal(503, "unavailable", { "retry-after": "3600" })]);
    await failure(assay.runs.get("a"));
    expect(seen).toHaveLength(1);
  });

  test("and may have been carried out is not repeated when the server cannot tell repeats", async () => {
    const { seen, assay } = client([new TypeError("fetch failed")]);
    await failure(assay.webhooks.redeliver("hook-1", {}));
    expect(seen).toHaveLength(1);
  });

  test("waits no longer when the caller aborts", async () => {
    const abort = new AbortController();
    const { seen, assay } = client([refusal(503, "unavailable", { "retry-after": "30" })]);
    const asked = failure(assay.runs.get("a", { signal: abort.signal }));
    setTimeout(() => abort.abort(), 5);
    expect(await asked).toBeInstanceOf(AbortError);
    expect(seen).toHaveLength(1);
  });
});

describe("a list", () => {
  const pages = [json({ runs: [{ runId: "a" }, { runId: "b" }], nextCursor: "c/1" }), json({ runs: [{ runId: "c" }] })];

  test("is a page when it is awaited, and everything when it is iterated", async () => {
    expect((await client(pages).assay.runs.list()).runs).toHaveLength(2);
    const { seen, assay } = client(pages);
    const ids: string[] = [];
    for await (const { runId } of assay.runs.list({ limit: 2 })) ids.push(runId);
    expect(ids).toEqual(["a", "b", "c"]);
    expect(seen[1]?.url).toBe("http://host/base/v1/runs?limit=2&cursor=c%2F1");
  });

  test("is read page by page, no further than it is asked for", async () => {
    const { seen, assay } = client(pages);
    for await (const { nextCursor } of assay.runs.list().iterPages()) {
      expect(nextCursor).toBe("c/1");
      break;
    }
    expect(seen).toHaveLength(1);
  });
});

describe("an answer of lines", () => {
  test("is what they say, wherever the pieces end", async () => {
    const bytes = new TextEncoder().encode('{"type":"ä"}\n{"type":"b"}\n');
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const lines: unknown[] = [];
    const { assay } = client([new Response(body)]);
    for await (const line of assay.judgments.export()) lines.push(line);
    expect(lines).toEqual([{ type: "ä" }, { type: "b" }]);
  });
});
