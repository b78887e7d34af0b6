import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const text = { type: "variable", variableName: "text" } as const;
const TEXT = { name: "text", type: "string", defaultValue: "harmless" } as const;
const GATE = { typeId: "core.approvalGate", config: {}, inputs: { artifact: text } };
const PUBLISH = { typeId: "core.identity", inputs: { published: text } };
const EFFECT = {
  typeId: "core.orchestrator.supervisor",
  config: { mockDecisions: [{ kind: "terminate", reason: "published" }] },
};
const HARMFUL = { inputs: { text: "harmful" } };

async function lengthOf(target: Target, runId: string): Promise<number> {
  return (await target.ask("GET", `/v1/runs/${runId}/events/poll?limit=1000`)).json.events.length;
}

/** No branch is made from any point before the end. */
async function isRefused(target: Target, runId: string, overlays: readonly object[]): Promise<void> {
  const length = await lengthOf(target, runId);
  for (const runOptionsOverlay of overlays) {
    for (let fromSeq = 0; fromSeq < length; fromSeq++) {
      const body = { mode: "branch", fromSeq, runOptionsOverlay };
      const answer = await target.ask("POST", `/v1/runs/${runId}:fork`, { as: "admin", body });
      expect([answer.status, answer.json.error], `from ${fromSeq}: ${answer.text}`).toEqual([
        422,
        "fork_point_invalid",
      ]);
    }
  }
}

const RESTS = ["waiting-approval", "completed", "failed", "cancelled"];

/** Branches that change nothing, from any point, do not come to the effect. */
async function asksFirst(target: Target, runId: string): Promise<void> {
  const length = await lengthOf(target, runId);
  for (let fromSeq = 1; fromSeq < length; fromSeq++) {
    const answer = await target.ask("POST", `/v1/runs/${runId}:fork`, {
      as: "admin",
      body: { mode: "branch", fromSeq },
    });
    expect(answer.status, answer.text).toBe(201);
    const { status } = await target.reaches(answer.json.runId, RESTS);
    expect(status, `from ${fromSeq}`).toBe("waiting-approval");
  }
}

export const attacks: readonly Attack[] = [
  {
    title: "no branch keeps a sub-workflow that ran before its workflow was given a gate",
    async attempt(target) {
      const below = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } });
      await target.register(workflow({ id: "lowest", version: "1", nodes: { n: "core.noop" } }));
      await target.register(workflow({ id: "middle", nodes: { check: below("lowest") } }));
      for (const child of ["lowest", "middle"]) {
        const spec = { nodes: { check: below(child), effect: EFFECT }, edges: ["check>effect"] };
        await target.register(workflow({ id: `above-${child}`, ...spec }));
      }
      const sources = [
        await target.begin("above-lowest", {}, "admin"),
        await target.begin("above-middle", {}, "admin"),
      ];
      for (const runId of sources) await target.ends(runId);
      await target.register(workflow({ id: "lowest", version: "2", nodes: { gate: { ...GATE, inputs: {} } } }));
      for (const runId of sources) await asksFirst(target, runId);
    },
  },
  {
    title: "no branch of a run from before its workflow had a gate acts without the gate",
    async attempt(target) {
      const later = { nodes: { gate: GATE, publish: PUBLISH }, edges: ["gate>publish"], variables: [TEXT] };
      await target.register(
        workflow({ id: "gated-since", version: "1", nodes: { publish: PUBLISH }, variables: [TEXT] }),
      );
      const runId = await target.begin("gated-since", {}, "admin");
      await target.ends(runId);
      await target.register(workflow({ id: "gated-since", version: "2", ...later }));
      await isRefused(target, runId, [HARMFUL]);
      await target.register(
        workflow({ id: "acts-ungated", version: "1", nodes: { effect: EFFECT }, variables: [TEXT] }),
      );
      const acted = await target.begin("acts-ungated", {}, "admin");
      await target.ends(acted);
      const gated = { nodes: { gate: GATE, effect: EFFECT }, edges: ["gate>effect"], variables: [TEXT] };
      await target.register(workflow({ id: "acts-ungated", version: "2", ...gated }));
      await isRefused(target, acted, [{}, HARMFUL]);
    },
  },
  {
    title: "no branch asks by the rules that a gate had before its workflow was registered anew",
    async attempt(target) {
      const release = (version: string, config: Record<string, unknown>) =>
        workflow({
          id: "stricter-since",
          version,
          nodes: { gate: { ...GATE, config }, effect: EFFECT },
          edges: ["gate>effect"],
          variables: [TEXT],
        });
      await target.register(release("1", {}));
      const runId = await target.begin("stricter-since", {}, "admin");
      await target.reaches(runId, ["waiting-approval"]);
      await target.register(release("2", { requiredApprovals: 2, forbidSelfApproval: true }));
      await isRefused(target, runId, [{}, HARMFUL]);
      await target.register(release("1", {}));
      const body = { mode: "branch", fromSeq: 0, runOptionsOverlay: HARMFUL };
      const branch = await target.ask("POST", `/v1/runs/${runId}:fork`, { as: "admin", body });
      expect(branch.status, branch.text).toBe(201);
      await target.reaches(branch.json.runId, ["waiting-approval"]);
    },
  },
];
