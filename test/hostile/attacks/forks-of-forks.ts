import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target } from "../target.ts";

const text = { type: "variable", variableName: "text" } as const;
const TEXT = { name: "text", type: "string", defaultValue: "harmless" } as const;
const APPROVED = { name: "approved", type: "boolean", defaultValue: false } as const;
const GATE = { typeId: "core.approvalGate", config: {}, inputs: { artifact: text } };
const MARK = { typeId: "core.identity", inputs: { approved: { type: "static", value: true } } } as const;
const PUBLISH = { typeId: "core.identity", inputs: { published: text } };
const EFFECT = {
  typeId: "core.orchestrator.supervisor",
  config: { mockDecisions: [{ kind: "terminate", reason: "published" }] },
};
const RESTS = ["waiting-approval", "completed", "failed", "cancelled"];

async function logOf(target: Target, runId: string): Promise<{ type: string; nodeId?: string }[]> {
  const headers = { accept: "application/json" };
  return (await target.ask("GET", `/v1/runs/${runId}/events?streamMode=debug`, { headers })).json.events;
}

async function fork(target: Target, runId: string, body: object): Promise<string> {
  const answer = await target.ask("POST", `/v1/runs/${runId}:fork`, { as: "admin", body });
  expect(answer.status, answer.text).toBe(201);
  await target.reaches(answer.json.runId, RESTS);
  return answer.json.runId;
}

/** Whether a branch from this point executes the node without a vote. */
async function runs(target: Target, source: string, fromSeq: number, nodeId: string, overlay = {}): Promise<boolean> {
  const runId = await fork(target, source, { mode: "branch", fromSeq, runOptionsOverlay: overlay });
  const since = (await logOf(target, runId)).slice(fromSeq);
  return since.some((event) => event.type === "node.started" && event.nodeId === nodeId);
}

async function accept(target: Target, runId: string): Promise<void> {
  await target.reaches(runId, ["waiting-approval"]);
  const body = { resumeValue: { action: "accept" } };
  const answer = await target.ask("POST", `/v1/runs/${runId}/interrupts/gate`, { as: "reviewer", body });
  expect(answer.status, answer.text).toBe(200);
}

/** The node that notes an approval is decided about together with the gate. */
async function notesEarly(target: Target, id: string): Promise<{ runId: string; marked: number }> {
  await target.register(
    workflow({
      id,
      nodes: { start: "core.noop", mark: MARK, gate: GATE, effect: EFFECT },
      edges: [
        "start>mark",
        { from: "start", to: "gate", condition: { type: "falsy", left: "variables.approved" } },
        { from: "start", to: "effect", triggerRule: "none_failed" },
        { from: "gate", to: "effect", triggerRule: "none_failed" },
      ],
      variables: [TEXT, APPROVED],
    }),
  );
  const runId = await target.begin(id, {}, "admin");
  await target.reaches(runId, RESTS);
  const log = await logOf(target, runId);
  return { runId, marked: log.findIndex(({ type, nodeId }) => type === "node.completed" && nodeId === "mark") + 1 };
}

export const attacks: readonly Attack[] = [
  {
    title: "no branch has a node count twice, and so pass a gate by, that had written before the fork point",
    async attempt(target) {
      await target.register(
        workflow({
          id: "asks-at-first",
          nodes: {
            count: {
              typeId: "core.identity",
              inputs: { checks: { type: "expression", expression: "variables.checks + 1.0" } },
            },
            gate: { ...GATE, inputs: {} },
            effect: EFFECT,
          },
          edges: [
            { from: "count", to: "gate", condition: { type: "expression", expression: "variables.checks < 2.0" } },
            { from: "count", to: "effect", triggerRule: "none_failed" },
            { from: "gate", to: "effect", triggerRule: "none_failed" },
          ],
          variables: [{ name: "checks", type: "number", defaultValue: 0 }],
        }),
      );
      const runId = await target.begin("asks-at-first", {}, "admin");
      await target.reaches(runId, ["waiting-approval"]);
      const { length } = await logOf(target, runId);
      for (let at = 1; at < length; at++) expect(await runs(target, runId, at, "effect"), `from ${at}`).toBe(false);
    },
  },
  {
    title: "no branch passes by the worker that a supervisor had chosen before the fork point",
    async attempt(target) {
      await target.register(workflow({ id: "checks-first", nodes: { gate: { ...GATE, inputs: {} } } }));
      await target.register(workflow({ id: "acts-then", nodes: { effect: EFFECT } }));
      const workerIds = ["checks-first", "acts-then"];
      const config = {
        workers: workerIds.map((workflowId) => ({ workflowId })),
        mockDecisions: [
          ...workerIds.map((id) => ({ kind: "next-worker", nextWorkerIds: [id] })),
          { kind: "terminate", reason: "done" },
        ],
      };
      const goesOn = { type: "notEquals", left: "output.kind", right: "terminate" } as const;
      await target.register(
        workflow({
          id: "supervised",
          nodes: {
            sup: { typeId: "core.orchestrator.supervisor", config },
            disp: { typeId: "core.dispatch", config: {} },
          },
          edges: ["sup>disp", { from: "disp", to: "sup", condition: goesOn }],
        }),
      );
      const runId = await target.begin("supervised", {}, "admin");
      await target.reaches(runId, ["waiting-approval"]);
      const { length } = await logOf(target, runId);
      for (let fromSeq = 1; fromSeq < length; fromSeq++) {
        const branch = await fork(target, runId, { mode: "branch", fromSeq });
        expect((await target.ask("GET", `/v1/runs/${branch}`)).json.status, `from ${fromSeq}`).toBe("waiting-approval");
      }
    },
  },
  {
    title: "a branch of a branch does not pass a gate by that the first source had decided to ask at",
    async attempt(target) {
      const { runId, marked } = await notesEarly(target, "notes-early");
      const first = await fork(target, runId, { mode: "branch", fromSeq: marked });
      for (let fromSeq = 1; fromSeq <= marked + 1; fromSeq++) {
        expect(await runs(target, first, fromSeq, "effect"), `from ${fromSeq}`).toBe(false);
      }
    },
  },
  {
    title: "a branch of a replay does not pass a gate by that the replay came past",
    async attempt(target) {
      const { runId, marked } = await notesEarly(target, "replays-early");
      await accept(target, runId);
      await target.ends(runId);
      const replay = await fork(target, runId, { mode: "replay", fromSeq: marked });
      const { length } = await logOf(target, replay);
      for (let fromSeq = 1; fromSeq < length; fromSeq++) {
        expect(await runs(target, replay, fromSeq, "effect"), `from ${fromSeq}`).toBe(false);
      }
      const first = await fork(target, replay, { mode: "branch", fromSeq: length - 1 });
      for (const fromSeq of [marked, length - 1, length]) {
        expect(await runs(target, first, fromSeq, "effect"), `from ${fromSeq} of the branch`).toBe(false);
      }
    },
  },
  {
    title: "a branch does not go on with the approval in a sub-workflow that asks nobody any more",
    async attempt(target) {
      const check = { typeId: "core.subWorkflow", config: { workflowId: "checks", inputMapping: { text: "text" } } };
      await target.register(workflow({ id: "checks", version: "1", nodes: { gate: GATE }, variables: [TEXT] }));
      await target.register(
        workflow({ id: "checked", nodes: { check, publish: PUBLISH }, edges: ["check>publish"], variables: [TEXT] }),
      );
      const runId = await target.begin("checked", {}, "admin");
      const { childRuns } = await target.reaches(runId, ["waiting-approval"]);
      await accept(target, childRuns[0].runId);
      await target.ends(runId);
      const closed = { typeId: "core.fail", config: { code: "closed", message: "Nothing is published this week." } };
      await target.register(workflow({ id: "checks", version: "2", nodes: { closed }, variables: [TEXT] }));
      const fromSeq = (await logOf(target, runId)).findIndex(({ nodeId }) => nodeId === "publish");
      expect(await runs(target, runId, fromSeq, "publish", { inputs: { text: "harmful" } })).toBe(false);
    },
  },
  {
    title: "a branch does not pass a gate that was cancelled with its run",
    async attempt(target) {
      const role = { requiredRole: "reviewer" };
      const gate = { typeId: "core.openwop.governance.approvalGate", config: role, inputs: { artifact: text } };
      const condition = { type: "notEquals", left: "output.decision", right: "rejected" } as const;
      await target.register(
        workflow({
          id: "unless-rejected",
          nodes: { gate, effect: EFFECT },
          edges: [{ from: "gate", to: "effect", triggerRule: "all_complete", condition }],
          variables: [TEXT],
        }),
      );
      const runId = await target.begin("unless-rejected", {}, "admin");
      await target.reaches(runId, ["waiting-approval"]);
      expect((await target.ask("POST", `/v1/runs/${runId}/cancel`, { as: "admin", body: {} })).status).toBe(200);
      await target.ends(runId);
      const { length } = await logOf(target, runId);
      expect(await runs(target, runId, length - 1, "effect")).toBe(false);
    },
  },
];
