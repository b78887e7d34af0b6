import { describe, expect, test } from "vitest";
import type { OutsideHost } from "./host.ts";

/** Runs that are stopped, held up and let go. */
export function controlScenarios(host: () => OutsideHost): void {
  describe("cancelling", () => {
    test("ends a sleeping run, and its last event is run.cancelled", async () => {
      const runId = await host().begin("sleep", { inputs: { delayMs: 60_000 } });
      await host().reaches(runId, "running");
      const cancelled = await host().ask("POST", `/v1/runs/${runId}/cancel`, { body: { reason: "enough" } });
      expect(cancelled.status).toBe(200);
      expect(["cancelling", "cancelled"]).toContain(cancelled.json.status);
      expect((await host().ends(runId)).status).toBe("cancelled");
      expect((await host().events(runId)).at(-1)).toMatchObject({
        type: "run.cancelled",
        payload: { reason: "enough" },
      });
    });

    test("a run that has ended changes nothing", async () => {
      const runId = await host().begin("noop");
      await host().ends(runId);
      const before = await host().events(runId);
      const answer = await host().ask("POST", `/v1/runs/${runId}/cancel`, { body: {} });
      expect([answer.status, answer.json.status]).toEqual([200, "completed"]);
      expect(await host().events(runId)).toEqual(before);
    });

    test("in bulk answers for each id, in order", async () => {
      const asleep = await host().begin("sleep", { inputs: { delayMs: 60_000 } });
      const done = await host().begin("noop");
      await host().ends(done);
      const { status, json } = await host().ask("POST", "/v1/runs:bulk-cancel", {
        body: { runIds: [asleep, "run-x", done] },
      });
      expect(status).toBe(200);
      expect(json.results.map((one: { ok: boolean }) => one.ok)).toEqual([true, false, false]);
      expect(json.results.map((one: { runId: string }) => one.runId)).toEqual([asleep, "run-x", done]);
      expect(json.results.map((one: { error?: { code: string } }) => one.error?.code)).toEqual([
        undefined,
        "not_found",
        "run_terminal",
      ]);
      for (const { error } of json.results.slice(1)) {
        expect(error).toEqual({ code: expect.any(String), message: expect.any(String) });
      }
      const many = await host().ask("POST", "/v1/runs:bulk-cancel", { body: { runIds: Array(101).fill("run-x") } });
      expect([many.status, many.json.details.maxRunIds]).toEqual([400, 100]);
    });
  });

  describe("pausing", () => {
    test("drains the current node, stays paused, and goes on when resumed", async () => {
      const runId = await host().begin("sleep-then-go");
      await host().reaches(runId, "running");
      const headers = { "idempotency-key": `pause-${runId}` };
      const paused = await host().ask("POST", `/v1/runs/${runId}:pause`, { body: {}, headers });
      expect([paused.status, paused.json.status]).toEqual([202, "paused"]);
      expect((await host().ask("POST", `/v1/runs/${runId}:pause`, { body: {}, headers })).text).toBe(paused.text);
      const second = await host().ask("POST", `/v1/runs/${runId}:pause`, { body: {} });
      expect([second.status, second.json.details.runStatus]).toEqual([409, "paused"]);
      await host().reaches(runId, "paused");
      expect((await host().types(runId)).slice(-2)).toEqual(["node.completed", "run.paused"]);
      const resumed = await host().ask("POST", `/v1/runs/${runId}:resume`, { body: {} });
      expect([resumed.status, resumed.json.status]).toEqual([202, "running"]);
      expect((await host().ends(runId)).status).toBe("completed");
    });

    test("at once leaves the attempt open, and resuming starts a fresh one", async () => {
      // Long enough to be seen running on a busy machine.
      const runId = await host().begin("sleep", { inputs: { delayMs: 1500 } });
      await host().reaches(runId, "running");
      const paused = await host().ask("POST", `/v1/runs/${runId}:pause`, { body: { drainPolicy: "immediate" } });
      expect(paused.json.pausedAt).toEqual(expect.any(String));
      expect((await host().types(runId)).at(-1)).toBe("run.paused");
      await host().ask("POST", `/v1/runs/${runId}:resume`, { body: {} });
      await host().ends(runId);
      const attempts = (await host().events(runId)).filter((event) => event.type === "node.started");
      expect(attempts.map((event) => event.payload.attempt)).toEqual([0, 1]);
    });

    test("is refused in the wrong state, naming it", async () => {
      const runId = await host().begin("noop");
      await host().ends(runId);
      for (const verb of ["pause", "resume"]) {
        const answer = await host().ask("POST", `/v1/runs/${runId}:${verb}`, { body: {} });
        expect([answer.status, answer.json.details.runStatus]).toEqual([409, "completed"]);
      }
    });
  });
}
