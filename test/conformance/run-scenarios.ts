import { describe, expect, test } from "vitest";
import type { OutsideHost } from "./host.ts";
import { STRANGER } from "./keys.ts";

/** Runs from their creation to their end. */
export function runScenarios(host: () => OutsideHost): void {
  describe("a run", () => {
    test("starts, executes and completes, and its log says so in order", async () => {
      const created = await host().ask("POST", "/v1/runs", { body: { workflowId: "noop" } });
      expect(created.status).toBe(201);
      expect(created.json.runId).toMatch(/^run-/);
      const { runId, eventsUrl } = created.json;
      expect(eventsUrl).toContain(runId);
      expect((await host().ends(runId)).status).toBe("completed");
      const events = await host().events(runId);
      expect(events.map((event) => event.sequence)).toEqual(events.map((_, i) => i));
      expect(events.map((event) => event.type)).toEqual([
        "run.started",
        "node.started",
        "node.completed",
        "run.completed",
      ]);
    });

    test("gives its inputs back unchanged", async () => {
      const payload = { text: "ü€😀", list: [1, null, { deep: true }], n: 1.5e-7 };
      const run = await host().ends(await host().begin("echo", { inputs: { payload } }));
      expect(run.variables.payload).toEqual(payload);
    });

    test("completes its nodes in the order of the edges", async () => {
      const runId = await host().begin("chain");
      await host().ends(runId);
      const done = (await host().events(runId)).filter((event) => event.type === "node.completed");
      expect(done.map((event) => event.nodeId)).toEqual(["a", "b", "c"]);
    });

    test("shows a channel with a time to live among its variables, with the time of each entry", async () => {
      const runId = await host().begin("channel-ttl");
      const run = await host().ends(runId);
      const last = (await host().payloads(runId, "channel.written")).at(-1);
      expect(run.variables.events).toEqual([{ value: "d", _ts: Date.parse(last.writtenAt) }]);
      expect(run.channels.events).toEqual(["d"]);
    });

    test("whose supervisor has no plan hands work to one worker, then ends the loop", async () => {
      const runId = await host().begin("dispatch-loop");
      expect((await host().ends(runId)).status).toBe("completed");
      const events = await host().events(runId);
      const decided = events.filter((event) => event.type === "runOrchestrator.decided");
      expect(decided.map((event) => event.payload.decision.kind)).toEqual(["next-worker", "terminate"]);
      const began = events.find((event) => event.payload.phase === "dispatch.began");
      expect(began.causationId).toBe(decided[0].eventId);
    });

    test("that fails says why, in its log and in its snapshot", async () => {
      const runId = await host().begin("failing");
      const run = await host().ends(runId);
      expect(run).toMatchObject({ status: "failed", error: { code: "node_failed", message: expect.any(String) } });
      expect((await host().types(runId)).slice(-2)).toEqual(["node.failed", "run.failed"]);
    });

    test("whose node needs what nobody provides fails with the capability's name", async () => {
      const run = await host().ends(await host().begin("missing"));
      expect(run.error.code).toBe("capability_not_provided");
      expect(run.error.message).toContain("conformance.never-provided");
    });

    test("over its limit of node executions fails with the breach recorded", async () => {
      const runId = await host().begin("chain", { configurable: { recursionLimit: 2 } });
      expect((await host().ends(runId)).error.code).toBe("recursion_limit_exceeded");
      const events = await host().events(runId);
      expect(events.find((event) => event.type === "cap.breached").payload).toMatchObject({
        kind: "node-executions",
        limit: 2,
        observed: 3,
      });
      expect(events.filter((event) => event.type === "node.started")).toHaveLength(2);
    });

    test("over its time fails with the breach recorded", async () => {
      const more = { inputs: { delayMs: 60_000 }, configurable: { runTimeoutMs: 200 } };
      const runId = await host().begin("sleep", more);
      expect((await host().ends(runId)).error.code).toBe("run_timeout");
      const breach = (await host().events(runId)).find((event) => event.type === "cap.breached");
      expect(breach.payload.observed).toBeGreaterThan(breach.payload.limit);
    });

    test("of another tenant does not exist on any surface", async () => {
      const runId = await host().begin("noop");
      for (const path of ["", "/events", "/events/poll", "/artifacts/a1"]) {
        expect((await host().ask("GET", `/v1/runs/${runId}${path}`, { key: STRANGER })).status).toBe(404);
      }
      for (const path of ["/cancel", ":pause", ":resume"]) {
        expect((await host().ask("POST", `/v1/runs/${runId}${path}`, { key: STRANGER, body: {} })).status).toBe(404);
      }
      const seam = await host().ask("GET", `/v1/host/sample/test/runs/${runId}/events`, { key: STRANGER });
      expect(seam.json).toEqual({ events: [] });
    });

    test("is known by its ETag until something happens", async () => {
      const runId = await host().begin("noop");
      await host().ends(runId);
      const { headers } = await host().ask("GET", `/v1/runs/${runId}`);
      const known = { "if-none-match": headers.get("etag") ?? "" };
      expect((await host().ask("GET", `/v1/runs/${runId}`, { headers: known })).status).toBe(304);
    });
  });

  describe("idempotency", () => {
    test("replays the first answer byte for byte, and refuses another body", async () => {
      const headers = { "idempotency-key": "the-same-key" };
      const first = await host().ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } });
      const again = await host().ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } });
      expect(again.status).toBe(201);
      expect(again.text).toBe(first.text);
      expect(again.headers.get("openwop-idempotent-replay")).toBe("true");
      expect(first.headers.get("openwop-idempotent-replay")).toBeNull();
      const other = await host().ask("POST", "/v1/runs", { headers, body: { workflowId: "chain" } });
      expect([other.status, other.json.error]).toEqual([409, "idempotency_key_mismatch"]);
    });

    test("makes one run of twenty requests at once", async () => {
      const headers = { "idempotency-key": "twenty-at-once" };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => host().ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } })),
      );
      const created = answers.filter((answer) => answer.status === 201);
      expect(new Set(created.map((answer) => answer.json.runId)).size).toBe(1);
      for (const answer of answers) expect([201, 409]).toContain(answer.status);
    });

    test("is each tenant's own", async () => {
      const headers = { "idempotency-key": "whose-is-it" };
      const body = { workflowId: "noop" };
      const mine = await host().ask("POST", "/v1/runs", { headers, body });
      const theirs = await host().ask("POST", "/v1/runs", { headers, body, key: STRANGER });
      expect(theirs.json.runId).not.toBe(mine.json.runId);
    });

    test("does not keep what failed validation", async () => {
      const headers = { "idempotency-key": "fix-it-and-retry" };
      expect((await host().ask("POST", "/v1/runs", { headers, body: { workflowId: "no-such" } })).status).toBe(400);
      expect((await host().ask("POST", "/v1/runs", { headers, body: { workflowId: "noop" } })).status).toBe(201);
    });
  });
}
