import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { IdempotencyRecord } from "../../store/port/store.ts";
import { bearer, expectError, type TestHost, testHost } from "../../testing/host.ts";

let host: TestHost;
let url: string;
beforeAll(async () => {
  host = await testHost();
  url = await host.listen();
});
afterAll(() => host.close());

let keys = 0;
const newKey = () => `key-${++keys}`;
const REPLAY = "openwop-idempotent-replay";

function create(key: string, json: unknown = { workflowId: "noop" }, more: Record<string, string> = {}) {
  return host.ask("POST", "/v1/runs", { json, headers: { "idempotency-key": key, ...more } });
}

async function runCount(): Promise<number> {
  const counts = Object.values(await host.store.countRuns());
  return counts.reduce((sum, count) => sum + count, 0);
}

describe("a request repeated with its key", () => {
  test("gets the first answer byte for byte, and nothing happens again", async () => {
    const key = newKey();
    const first = await create(key);
    const before = await runCount();
    const second = await create(key);
    expect(second.payload).toBe(first.payload);
    expect(second.statusCode).toBe(201);
    expect(second.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(first.headers[REPLAY]).toBeUndefined();
    expect(second.headers[REPLAY]).toBe("true");
    expect(second.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
    expect(await runCount()).toBe(before);
  });

  test("may write the same body in another way", async () => {
    const key = newKey();
    const body = '{"workflowId":"noop","tags":["a"],"inputs":{}}';
    const headers = { "idempotency-key": key };
    const first = await host.ask("POST", "/v1/runs", { body, headers });
    const other = '{ "inputs": {},\n "tags": ["\\u0061"], "workflowId": "noop" }';
    expect((await host.ask("POST", "/v1/runs", { body: other, headers })).payload).toBe(first.payload);
  });

  test("that looks like a secret gets its answer again, and is not stored as it is", async () => {
    const key = "ghp_aB3dE6gH9jK2mN5paB3dE6gH9jK2mN5paB3d";
    const first = await create(key);
    expect(first.statusCode).toBe(201);
    expect((await create(key)).payload).toBe(first.payload);
    const { tenant } = (await host.ask("GET", "/v1/host/assay/whoami")).json();
    const stored = (name: string) =>
      host.store.readIdempotency({ tenant, operation: "POST /v1/runs", key: name }, Date.now());
    expect(await stored(key)).toBeUndefined();
    const hash = createHash("sha256").update(key).digest("hex");
    expect((await stored(`sha256:${hash}`))?.response?.status).toBe(201);
  });

  test("is refused when the body means something else, without a word of the first answer", async () => {
    const key = newKey();
    const { runId } = (await create(key)).json();
    const response = await create(key, { workflowId: "noop", tags: ["other"] });
    expectError(response, "idempotency_key_mismatch");
    expect(response.payload).not.toContain(runId);
  });

  test("is another request when it asks for deduplication", async () => {
    const key = newKey();
    const json = { workflowId: "noop", scopeId: newKey() };
    await create(key, json);
    expectError(await create(key, json, { "x-dedup": "enforce" }), "idempotency_key_mismatch");
  });

  test("is its own for each tenant, workspace, operation and run", async () => {
    const key = newKey();
    const headers = { "idempotency-key": key };
    const json = { workflowId: "noop" };
    const made = await Promise.all(
      (["owner", "other", "east", "west"] as const).map((as) => host.ask("POST", "/v1/runs", { as, json, headers })),
    );
    expect(new Set(made.map((response) => response.json().runId)).size).toBe(4);
    const [one, two] = [await host.newRun(), await host.newRun()];
    for (const runId of [one, two]) {
      const cancelled = await host.ask("POST", `/v1/runs/${runId}/cancel`, { headers });
      expect(cancelled.json()).toEqual({ runId, status: "cancelled" });
      expect(cancelled.headers[REPLAY]).toBeUndefined();
    }
  });

  test("is told its first 202 although the run is paused by now", async () => {
    const runId = await host.newRun();
    const pause = (key: string) => host.ask("POST", `/v1/runs/${runId}:pause`, { headers: { "idempotency-key": key } });
    const key = newKey();
    const first = await pause(key);
    expect(first.statusCode).toBe(202);
    expect(expectError(await pause(newKey()), "run_state_conflict")).toMatchObject({ runStatus: "paused" });
    expect((await pause(key)).payload).toBe(first.payload);
  });

  test("gets a refusal again that would not change", async () => {
    const runId = await host.newRun();
    await host.ask("POST", `/v1/runs/${runId}/cancel`);
    const headers = { "idempotency-key": newKey() };
    const pause = () => host.ask("POST", `/v1/runs/${runId}:pause`, { headers });
    const [first, second] = [await pause(), await pause()];
    expectError(first, "run_terminal");
    expect(second.payload).toBe(first.payload);
    expect(second.statusCode).toBe(409);
    expect(second.headers[REPLAY]).toBe("true");
  });

  test.each([
    ["a body that was wrong", { json: { workflowId: "none-such" } }, "validation_error"],
    ["a caller who may not", { as: "viewer", json: { workflowId: "noop" } }, "forbidden"],
    ["a tenant that is not his", { json: { workflowId: "noop", tenantId: "t2" } }, "tenant_mismatch"],
  ] as const)("is not held to %s", async (_, asked, code) => {
    const headers = { "idempotency-key": newKey() };
    expectError(await host.ask("POST", "/v1/runs", { ...asked, headers }), code);
    const again = await host.ask("POST", "/v1/runs", { json: { workflowId: "noop" }, headers });
    expect(again.statusCode).toBe(201);
    expect(again.headers[REPLAY]).toBeUndefined();
  });

  test.each([
    [new AppError("unavailable", { reason: "The database does not answer" }), "unavailable"],
    [new Error("bang"), "internal_error"],
  ] as const)("is not held to a failure of the host: %s", async (failure, code) => {
    const key = newKey();
    const { readWorkflowHash } = host.store;
    host.store.readWorkflowHash = () => Promise.reject(failure);
    expectError(await create(key), code);
    host.store.readWorkflowHash = readWorkflowHash;
    expect(await create(key)).toMatchObject({ statusCode: 201 });
  });

  test.each(["", "has space", "a".repeat(256), "tab\there"])("is refused when the key is %j", async (key) => {
    expectError(await create(key), "validation_error");
  });

  test.each(["a".repeat(255), "!~AZaz09-._"])("is taken when the key is %j", async (key) => {
    expect(await create(key)).toMatchObject({ statusCode: 201 });
  });

  test("that only reads ignores the key", async () => {
    const headers = { "idempotency-key": "has space" };
    expect(await host.ask("GET", "/v1/runs", { headers })).toMatchObject({ statusCode: 200 });
  });

  test("registers a workflow once and says 201 both times", async () => {
    const headers = { "idempotency-key": newKey() };
    const { definition } = (await host.store.readWorkflow("t1", "noop")) ?? {};
    const json = { ...JSON.parse(definition ?? ""), id: "fresh" };
    const post = () => host.ask("POST", "/v1/workflows", { json, headers });
    expect([(await post()).statusCode, (await post()).statusCode]).toEqual([201, 201]);
    expect((await host.ask("POST", "/v1/workflows", { json })).statusCode).toBe(200);
  });
});

describe("ten requests with one key at the same time", () => {
  test("make exactly one run, over real connections", async () => {
    const before = await runCount();
    const key = newKey();
    const responses = await Promise.all(
      Array.from({ length: 10 }, () =>
        fetch(`${url}/v1/runs`, {
          method: "POST",
          headers: { ...bearer("owner"), "content-type": "application/json", "idempotency-key": key },
          body: '{"workflowId":"noop"}',
        }),
      ),
    );
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(bodies).size).toBe(1);
    expect(responses.filter(({ headers }) => headers.get(REPLAY) === null)).toHaveLength(1);
    expect(await runCount()).toBe(before + 1);
  });

  test("cancel each run once in bulk; those that come too early are told to wait", async () => {
    const runIds = await Promise.all([host.newRun(), host.newRun()]);
    const headers = { "idempotency-key": newKey() };
    const post = () => host.ask("POST", "/v1/runs:bulk-cancel", { json: { runIds }, headers });
    const responses = await Promise.all(Array.from({ length: 10 }, post));
    const done = responses.filter(({ statusCode }) => statusCode === 200);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ payload }) => payload)).size).toBe(1);
    for (const response of responses.filter(({ statusCode }) => statusCode !== 200)) {
      expect(expectError(response, "idempotency_in_flight")).toMatchObject({ retryAfter: 1 });
      expect(response.headers["retry-after"]).toBe("1");
    }
    const again = await post();
    expect(again.payload).toBe(done[0]?.payload);
    expect(again.headers[REPLAY]).toBe("true");
  });
});

describe("a bulk cancel", () => {
  const ask = (key: string, runIds: string[]) =>
    host.ask("POST", "/v1/runs:bulk-cancel", { json: { runIds }, headers: { "idempotency-key": key } });

  test("that failed in the host can be sent again at once", async () => {
    const runId = await host.newRun();
    const key = newKey();
    const { readRun } = host.store;
    host.store.readRun = () => Promise.reject(new Error("bang"));
    expectError(await ask(key, [runId]), "internal_error");
    host.store.readRun = readRun;
    expect((await ask(key, [runId])).json()).toEqual({ results: [{ runId, ok: true, status: "cancelled" }] });
  });

  test("whose key holds another body is refused while the first still runs", async () => {
    const key = newKey();
    let arrived = () => {};
    let goOn = () => {};
    const inside = new Promise<void>((resolve) => (arrived = resolve));
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const runId = await host.newRun();
    const { readRun } = host.store;
    host.store.readRun = async (...args) => {
      arrived();
      await held;
      return readRun(...args);
    };
    const first = ask(key, [runId]);
    await inside;
    host.store.readRun = readRun;
    expectError(await ask(key, [runId]), "idempotency_in_flight");
    expectError(await ask(key, ["run-other"]), "idempotency_key_mismatch");
    goOn();
    expect(await first).toMatchObject({ statusCode: 200 });
  });

  test("that lost its claim to a twin gives the twin's answer", async () => {
    const key = newKey();
    const runId = await host.newRun();
    const { commit } = host.store;
    const response = { status: 200, headers: { "content-type": "application/json" }, body: '{"results":[]}' };
    host.store.commit = async (unit) => {
      if (unit.idempotency?.key !== key) return commit(unit);
      const record: IdempotencyRecord = { digest: unit.idempotency.digest, state: "completed", response };
      return { ok: false, refusal: { type: "idempotency", record } };
    };
    const answer = await ask(key, [runId]);
    host.store.commit = commit;
    expect(answer.payload).toBe('{"results":[]}');
    expect(answer.headers[REPLAY]).toBe("true");
  });
});
