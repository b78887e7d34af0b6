import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";

const ACCEPT = { action: "accept" };

/** Runs of runs. */
export function familyScenarios(host: () => OutsideHost): void {
  describe("a sub-workflow", () => {
    test("is a run of its own that its parent lists, with variables mapped in and out", async () => {
      const sent = { text: "ü€😀", n: 1 };
      const parent = await host().begin("sub-parent", { inputs: { sent } });
      const run = await host().ends(parent);
      expect(run.status).toBe("completed");
      expect(run.variables.received).toEqual(sent);
      const [child] = run.childRuns;
      expect(child).toMatchObject({ status: "completed", workflowId: "sub-child", nodeId: "subwf-call" });
      const snapshot = (await host().ask("GET", `/v1/runs/${child.runId}`)).json;
      expect(snapshot).toMatchObject({ status: "completed", parentRunId: parent, parentNodeId: "subwf-call" });
      expect(snapshot.owner).toEqual(run.owner);
      const [dispatched] = await host().payloads(parent, "node.dispatched");
      expect(dispatched).toMatchObject({ childRunId: child.runId, childWorkflowId: "sub-child" });
      expect(Object.keys(dispatched).filter((name) => !name.startsWith("child"))).toEqual([]);
      const done = (await host().events(parent)).filter((event) => event.type === "node.completed");
      expect(done.map((event) => event.nodeId)).toEqual(["parent-start", "subwf-call", "parent-end"]);
    });

    test("has nothing where its parent maps from nothing, whatever its own default", async () => {
      const run = await host().ends(await host().begin("sub-parent"));
      const child = (await host().ask("GET", `/v1/runs/${run.childRuns[0].runId}`)).json;
      expect([run.status, child.status]).toEqual(["completed", "completed"]);
      expect(child.variables.given).toBeUndefined();
      expect(run.variables.received).toBeUndefined();
      const alone = await host().ends(await host().begin("sub-child"));
      expect(alone.variables.given).toEqual({ from: "the child's default" });
    });

    test("that fails takes its parent with it", async () => {
      const run = await host().ends(await host().begin("sub-fail-parent"));
      expect(run).toMatchObject({ status: "failed", error: { code: "child_failed" } });
      expect(run.error.details.childRunId).toBe(run.childRuns[0].runId);
    });

    test("that fails is absorbed where the parent says so", async () => {
      const run = await host().ends(await host().begin("sub-absorb"));
      expect([run.status, run.childRuns[0].status]).toEqual(["completed", "failed"]);
    });
  });

  describe("a parent whose child waits", () => {
    async function family(): Promise<{ parent: string; child: string }> {
      const parent = await host().begin("parent-of-gate");
      const { childRuns } = await host().reaches(parent, "waiting-approval");
      return { parent, child: childRuns[0].runId };
    }

    test("waits as well, and both end when the child is answered", async () => {
      const { parent, child } = await family();
      const waiting = (await host().ask("GET", `/v1/runs/${parent}`)).json;
      expect(waiting.childRuns).toMatchObject([{ runId: child, status: "waiting-approval" }]);
      expect((await host().answer(child, ACCEPT, { node: "child-gate" })).status).toBe(200);
      expect((await host().ends(child)).status).toBe("completed");
      expect((await host().ends(parent)).status).toBe("completed");
    });

    test("takes the child with it when it is cancelled, and the child's gate is gone", async () => {
      const { parent, child } = await family();
      const token = (await host().ask("GET", `/v1/runs/${child}`)).json.interrupt.interruptToken;
      expect((await host().ask("POST", `/v1/runs/${parent}/cancel`, { body: {} })).status).toBe(200);
      expect((await host().ends(parent)).status).toBe("cancelled");
      expect((await host().ends(child)).status).toBe("cancelled");
      expect(await host().payloads(child, "run.cancelled")).toMatchObject([
        { reason: "parent-cancelled", parentRunId: parent, parentNodeId: "spawn-child" },
      ]);
      const [own] = await host().payloads(parent, "run.cancelled");
      expect(own).not.toHaveProperty("parentRunId");
      const late = await host().answer(child, ACCEPT, { node: "child-gate" });
      expect(refusal(late)).toEqual([410, "interrupt_gone"]);
      expect(refusal(await host().byToken(token, ACCEPT))).toEqual([410, "interrupt_gone"]);
      const again = await host().ask("POST", `/v1/runs/${parent}/cancel`, { body: {} });
      expect([again.status, again.json.status]).toEqual([200, "cancelled"]);
      expect(await host().payloads(child, "run.cancelled")).toHaveLength(1);
    });

    test("is cancelled with its child, and both name the run that began it and a node of that run", async () => {
      const first = await host().begin("grandparent-of-gate");
      const middle = (await host().reaches(first, "waiting-approval")).childRuns[0].runId;
      const last = (await host().reaches(middle, "waiting-approval")).childRuns[0].runId;
      expect((await host().ask("POST", `/v1/runs/${first}/cancel`, { body: {} })).status).toBe(200);
      for (const runId of [middle, last]) {
        await host().ends(runId);
        expect(await host().payloads(runId, "run.cancelled")).toMatchObject([
          { reason: "parent-cancelled", parentRunId: first, parentNodeId: "spawn-parent" },
        ]);
      }
    });

    test("fails when the child alone is cancelled, and says which it was", async () => {
      const { parent, child } = await family();
      await host().ask("POST", `/v1/runs/${child}/cancel`, { body: {} });
      const run = await host().ends(parent);
      expect(run).toMatchObject({ status: "failed", error: { code: "child_cancelled" } });
      expect(run.error.details.childRunId).toBe(child);
      const [cancelled] = await host().payloads(child, "run.cancelled");
      expect(cancelled).not.toHaveProperty("parentRunId");
      const late = await host().answer(child, ACCEPT, { node: "child-gate" });
      expect(refusal(late)).toEqual([410, "interrupt_gone"]);
    });
  });
}
