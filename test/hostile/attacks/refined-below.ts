import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

/** Two people who did not start the run. */
const FOUR_EYES = {
  typeId: "core.approvalGate",
  config: { actions: ["accept", "reject", "refine"], requiredApprovals: 2, minHumans: 2, forbidSelfApproval: true },
};
const PUBLISH = { typeId: "core.identity", inputs: { published: { type: "static", value: true } } } as const;
const REFINE = { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } };

const calls = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } });

/** The run, its end and that of the run with the gate, after the one who started it asked for a refinement there or said no. */
async function refined(target: Target, workflowId: string, resumeValue: object = REFINE) {
  const runId = await target.begin(workflowId, {}, "admin");
  let below = runId;
  for (let run = await target.reaches(runId, ["waiting-approval"]); run.childRuns?.length > 0; ) {
    below = run.childRuns.at(-1).runId;
    run = await target.reaches(below, ["waiting-approval"]);
  }
  const path = `/v1/runs/${below}/interrupts/gate`;
  const answer = await target.ask("POST", path, { as: "admin", body: { resumeValue } });
  expect(answer.status, answer.text).toBe(200);
  return { run: await target.ends(runId), child: await target.ends(below) };
}

export const attacks: readonly Attack[] = [
  {
    title: "no run goes on past a gate below it where somebody asked for a refinement",
    async attempt(target) {
      await target.register(workflow({ id: "reviewed", nodes: { gate: FOUR_EYES } }));
      await target.register(workflow({ id: "reviewed-below", nodes: { review: calls("reviewed") } }));
      for (const child of ["reviewed", "reviewed-below"]) {
        const id = `above-${child}`;
        const nodes = { check: calls(child), publish: PUBLISH };
        await target.register(workflow({ id, nodes, edges: ["check>publish"] }));
        const { run, child: below } = await refined(target, id);
        expect(below).toMatchObject({ status: "completed", outputs: { decision: "refined", approved: false } });
        expect(run).toMatchObject({ status: "failed", error: { code: "child_failed" } });
        expect(run.nodeStates.publish?.status).not.toBe("completed");
      }
    },
  },
  {
    title: "no worker begins after one in which somebody asked for a refinement",
    async attempt(target) {
      await target.register(workflow({ id: "asking-worker", nodes: { gate: FOUR_EYES } }));
      await target.register(workflow({ id: "acting-worker", nodes: { publish: PUBLISH } }));
      const mockDispatchPlan = [
        { kind: "next-worker", nextWorkerIds: ["asking-worker", "acting-worker"] },
        { kind: "terminate", reason: "told" },
      ];
      const nodes = {
        boss: { typeId: "core.orchestrator.supervisor", config: { mockDispatchPlan } },
        do: { typeId: "core.dispatch", config: {} },
      };
      await target.register(workflow({ id: "led-past-it", nodes, edges: ["boss>do", "do>boss"] }));
      const { run } = await refined(target, "led-past-it");
      expect(run.childRuns).toHaveLength(1);
    },
  },
  {
    title: "no run goes on past a worker with a gate that was not passed where no supervisor decides again",
    async attempt(target) {
      await target.register(workflow({ id: "only-worker", nodes: { gate: FOUR_EYES } }));
      const mockDispatchPlan = [{ kind: "next-worker", nextWorkerIds: ["only-worker"] }];
      const nodes = {
        boss: { typeId: "core.orchestrator.supervisor", config: { mockDispatchPlan } },
        do: { typeId: "core.dispatch", config: {} },
        publish: PUBLISH,
      };
      const condition = { type: "equals", left: "output.childStatus", right: "completed" } as const;
      for (const [id, back] of [
        ["led-once", []],
        ["led-while-it-goes-well", [{ from: "do", to: "boss", condition }]],
      ] as const) {
        await target.register(workflow({ id, nodes, edges: ["boss>do", ...back, "do>publish"] }));
      }
      for (const [id, answer] of [
        ["led-once", REFINE],
        ["led-once", { action: "reject" }],
        ["led-while-it-goes-well", { action: "reject" }],
      ] as const) {
        const { run } = await refined(target, id, answer);
        expect(run).toMatchObject({ status: "failed", error: { code: "child_failed" } });
        expect(run.nodeStates.publish?.status).not.toBe("completed");
      }
    },
  },
  {
    title: "no node between a dispatch and its supervisor acts after a worker with a gate that was not passed",
    async attempt(target) {
      await target.register(workflow({ id: "asked-in-the-loop", nodes: { gate: FOUR_EYES } }));
      const mockDispatchPlan = [{ kind: "next-worker", nextWorkerIds: ["asked-in-the-loop"] }];
      const nodes = {
        boss: { typeId: "core.orchestrator.supervisor", config: { mockDispatchPlan } },
        do: { typeId: "core.dispatch", config: {} },
        publish: PUBLISH,
      };
      const condition = { type: "truthy", left: "output.published" } as const;
      const edges = ["boss>do", "do>publish", { from: "publish", to: "boss", condition }];
      await target.register(workflow({ id: "published-in-the-loop", nodes, edges }));
      for (const answer of [REFINE, { action: "reject" }]) {
        const { run } = await refined(target, "published-in-the-loop", answer);
        expect(run).toMatchObject({ status: "failed", error: { code: "child_failed" } });
        expect(run.nodeStates.publish?.status).not.toBe("completed");
      }
    },
  },
];
