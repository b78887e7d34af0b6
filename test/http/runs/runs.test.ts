import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BulkCancelResponse, CreateRunResponse, ListRunsResponse } from "../../../src/protocol/runs/api.ts";
import { RunSnapshot } from "../../../src/protocol/runs/snapshot.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  host = await testHost();
});
afterAll(() => host.close());

const create = (json: object, headers: Record<string, string> = {}) => host.ask("POST", "/v1/runs", { json, headers });

describe("creating a run", () => {
  test("answers 201 with where to look", async () => {
    const response = await create({ workflowId: "noop" });
    expect(response.statusCode).toBe(201);
    expect(matches(CreateRunResponse, response.json())).toBe(true);
    const { runId, eventsUrl, statusUrl } = response.json();
    expect(runId).toMatch(/^run-/);
    expect((await host.ask("GET", statusUrl)).json()).toMatchObject({ runId, workflowId: "noop" });
    const log = await host.ask("GET", eventsUrl, { headers: { accept: "application/json" } });
    expect(log.json().events).toMatchObject([{ type: "run.started", sequence: 0 }]);
  });

  test.each([
    [{}, "validation_error"],
    [{ workflowId: "none-such" }, "validation_error"],
    [{ workflowId: "noop", nodes: [] }, "validation_error"],
    [{ workflowId: "noop", tags: [""] }, "validation_error"],
    [{ workflowId: "noop", configurable: { temperature: 3 } }, "validation_error"],
    [{ workflowId: "noop", tenantId: "t2" }, "tenant_mismatch"],
    [{ workflowId: "noop", configurable: { mockProvider: { id: "x" } } }, "unsupported_mock_provider"],
    [{ mode: "eval", agentId: "a", evalSuiteRef: "acme.evals.none" }, "not_found"],
  ] as const)("of %j is %s", async (json, code) => {
    expectError(await create(json), code);
  });

  test("with answers of its own is forbidden where nobody watches by the seams", async () => {
    const without = await testHost({ capabilities: ["agents"] });
    const json = { workflowId: "noop", configurable: { mockProvider: { id: "stream-text" } } };
    expectError(await without.ask("POST", "/v1/runs", { json }), "mock_provider_forbidden");
    await without.close();
  });

  test("of mode eval is not provided where evaluations are off", async () => {
    const without = await testHost({ capabilities: ["agents"] });
    const json = { mode: "eval", agentId: "a", evalSuiteRef: "acme.evals.none" };
    expectError(await without.ask("POST", "/v1/runs", { json }), "capability_not_provided");
    expectError(await without.ask("GET", `/v1/runs/${await without.newRun()}/eval-summary`), "not_found");
    await without.close();
  });

  test("under another engine version is for test keys, of which there are none", async () => {
    const headers = { "x-force-engine-version": "1" };
    expectError(await create({ workflowId: "noop" }, headers), "force_engine_version_forbidden");
  });

  test("with X-Dedup: enforce tells nothing of the same scope in another workspace", async () => {
    const asked = { json: { workflowId: "noop", scopeId: "shared" }, headers: { "x-dedup": "enforce" } };
    for (const as of ["east", "west", "owner"] as const) {
      expect(await host.ask("POST", "/v1/runs", { as, ...asked })).toMatchObject({ statusCode: 201 });
    }
    const details = expectError(await host.ask("POST", "/v1/runs", { as: "east", ...asked }), "run_already_active");
    const { activeRunId } = details as { activeRunId: string };
    expect(await host.ask("GET", `/v1/runs/${activeRunId}`, { as: "east" })).toMatchObject({ statusCode: 200 });
  });

  test("with X-Dedup: enforce gives one active run per scope", async () => {
    const json = { workflowId: "noop", scopeId: "order-7" };
    const headers = { "x-dedup": "enforce" };
    const { runId } = (await create(json, headers)).json();
    const refused = await create(json, headers);
    expect(expectError(refused, "run_already_active")).toMatchObject({ activeRunId: runId });
    expect(refused.headers["retry-after"]).toBe("1");
    expect(await create(json)).toMatchObject({ statusCode: 201 });
    await host.ask("POST", `/v1/runs/${runId}/cancel`);
    expect(await create(json, headers)).toMatchObject({ statusCode: 201 });
    expectError(await create(json, { "x-dedup": "maybe" }), "validation_error");
    expectError(await create({ workflowId: "noop" }, headers), "validation_error");
  });
});

describe("reading a run", () => {
  test("carries a strong ETag that changes with the run", async () => {
    const runId = await host.newRun();
    const read = (etag?: string) =>
      host.ask("GET", `/v1/runs/${runId}`, etag === undefined ? {} : { headers: { "if-none-match": etag } });
    const first = await read();
    expect(matches(RunSnapshot, first.json())).toBe(true);
    const etag = String(first.headers["etag"]);
    expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    for (const header of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const unchanged = await read(header);
      expect(unchanged).toMatchObject({ statusCode: 304, payload: "" });
      expect(unchanged.headers["etag"]).toBe(etag);
      expect(unchanged.headers["content-length"]).toBeUndefined();
    }
    await host.ask("POST", `/v1/runs/${runId}/cancel`);
    const changed = await read(etag);
    expect(changed.statusCode).toBe(200);
    expect(changed.headers["etag"]).not.toBe(etag);
  });
});

describe("listing runs", () => {
  test("pages through them newest first", async () => {
    const runIds: string[] = [];
    for (let i = 0; i < 5; i++) runIds.push((await create({ workflowId: "noop", tags: ["listed"] })).json().runId);
    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; page < 3; page++) {
      const response = await host.ask("GET", `/v1/runs?limit=2${cursor}`);
      expect(matches(ListRunsResponse, response.json())).toBe(true);
      const { runs, nextCursor } = response.json();
      seen.push(...runs.map((run: RunSnapshot) => run.runId));
      cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
    }
    // Ids sort by the millisecond, and two of them may share one.
    expect(seen.slice(0, 5)).toEqual(runIds.sort().reverse());
  });

  test("filters exactly", async () => {
    const runId = await host.newRun();
    await host.ask("POST", `/v1/runs/${runId}/cancel`);
    const { runs } = (await host.ask("GET", "/v1/runs?status=cancelled&workflowId=noop")).json();
    expect(runs.length).toBeGreaterThan(0);
    expect(runs.every((run: RunSnapshot) => run.status === "cancelled")).toBe(true);
    expect((await host.ask("GET", "/v1/runs?workflowId=none-such")).json()).toEqual({ runs: [] });
  });

  test.each(["limit=0", "limit=201", "status=done", "cursor=made-up", "page=2"])("refuses ?%s", async (query) => {
    expectError(await host.ask("GET", `/v1/runs?${query}`), "validation_error");
  });
});

describe("changing a run", () => {
  test("needs no body, and no content type then", async () => {
    const runId = await host.newRun();
    const headers = { "content-type": "text/plain" };
    expect((await host.ask("POST", `/v1/runs/${runId}:pause`, { headers })).json()).toMatchObject({ status: "paused" });
    expect(await host.ask("POST", `/v1/runs/${runId}:resume`)).toMatchObject({ statusCode: 202 });
    expect((await host.ask("POST", `/v1/runs/${runId}/cancel`)).json()).toEqual({ runId, status: "cancelled" });
    expect((await host.ask("POST", `/v1/runs/${runId}/cancel`)).json()).toEqual({ runId, status: "cancelled" });
  });
});

describe("cancelling many runs", () => {
  test("answers for each in order, whatever becomes of it", async () => {
    const [one, two] = [await host.newRun(), await host.newRun()];
    const foreign = await host.newRun("other");
    const response = await host.ask("POST", "/v1/runs:bulk-cancel", {
      json: { runIds: [one, foreign, "none", two, one] },
    });
    expect(matches(BulkCancelResponse, response.json())).toBe(true);
    expect(response.json().results).toMatchObject([
      { runId: one, ok: true, status: "cancelled" },
      { runId: foreign, ok: false, error: { code: "not_found" } },
      { runId: "none", ok: false, error: { code: "not_found" } },
      { runId: two, ok: true },
      { runId: one, ok: true },
    ]);
  });

  test.each([[[]], [Array.from({ length: 101 }, (_, i) => `run-${i}`)]])(
    "refuses too few or too many",
    async (runIds) => {
      const response = await host.ask("POST", "/v1/runs:bulk-cancel", { json: { runIds } });
      expect(expectError(response, "validation_error")).toMatchObject({ maxRunIds: 100 });
    },
  );
});
