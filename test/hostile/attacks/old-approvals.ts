import { expect } from "vitest";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import type { Target, Who } from "../target.ts";

const TEXT = { name: "text", type: "string", defaultValue: "harmless" } as const;
const SHOWS_TEXT = { artifact: { type: "variable", variableName: "text" } } as const;
const GATE = { typeId: "core.approvalGate", config: {}, inputs: SHOWS_TEXT };
const FOUR_EYES = { ...GATE, config: { forbidSelfApproval: true } };
const WAITING = ["waiting-approval"];
const PUBLISH = { typeId: "core.identity", inputs: { published: { type: "variable", variableName: "text" } } } as const;

const accept = (target: Target, runId: string, as: Who) =>
  target.ask("POST", `/v1/runs/${runId}/interrupts/gate`, { as, body: { resumeValue: { action: "accept" } } });

async function logOf(target: Target, runId: string): Promise<{ type: string; nodeId?: string }[]> {
  const headers = { accept: "application/json" };
  return (await target.ask("GET", `/v1/runs/${runId}/events?streamMode=debug`, { headers })).json.events;
}

async function branch(target: Target, runId: string, as: Who, fromSeq: number, overlay: object = {}): Promise<string> {
  const body = { mode: "branch", fromSeq, runOptionsOverlay: overlay };
  const answer = await target.ask("POST", `/v1/runs/${runId}:fork`, { as, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.runId;
}

/** A run that was approved and has ended, and the first sequence after its approval. */
async function approved(target: Target, workflowId: string): Promise<{ runId: string; from: number; to: number }> {
  const runId = await target.begin(workflowId, {}, "admin");
  const waiting = await target.reaches(runId, WAITING);
  const child = waiting.childRuns?.[0]?.runId;
  expect((await accept(target, child ?? runId, "reviewer")).status).toBe(200);
  await target.ends(runId);
  const log = await logOf(target, runId);
  const decided = log.findIndex(({ type }) => type === "interrupt.resolved" || type === "assay.child.ended");
  return { runId, from: decided + 1, to: log.length - 1 };
}

export const attacks: readonly Attack[] = [
  {
    title: "a branch with other inputs waits at its gate again, from every point after the approval",
    async attempt(target, rounds) {
      await target.register(
        workflow({
          id: "publish",
          nodes: { gate: GATE, publish: PUBLISH },
          edges: ["gate>publish"],
          variables: [TEXT],
        }),
      );
      for (let round = 0; round < rounds; round++) {
        const source = await approved(target, "publish");
        for (let fromSeq = source.from; fromSeq <= source.to; fromSeq++) {
          const runId = await branch(target, source.runId, "admin", fromSeq, { inputs: { text: "harmful" } });
          const { interrupt, outputs } = await target.reaches(runId, WAITING);
          expect([interrupt.data.artifactData, outputs]).toEqual(["harmful", undefined]);
        }
      }
    },
  },
  {
    title: "a branch from inside a round of a loop does not go on with the approval of an earlier round",
    async attempt(target) {
      const flag = { name: "flag", type: "boolean", defaultValue: true } as const;
      await target.register(workflow({ id: "raises-flag", nodes: { only: "core.noop" }, variables: [flag] }));
      const mark = {
        typeId: "core.subWorkflow",
        config: { workflowId: "raises-flag", outputMapping: { done: "flag" } },
      };
      const stop = { typeId: "core.approvalGate", config: { actions: ["accept", "refine"], requireBoundVotes: false } };
      await target.register(
        workflow({
          id: "asks-once",
          nodes: { start: "core.noop", gate: GATE, mark, stop, publish: PUBLISH },
          edges: [
            { from: "start", to: "gate", condition: { type: "falsy", left: "variables.done" } },
            { from: "start", to: "mark", triggerRule: "none_failed" },
            { from: "gate", to: "mark", triggerRule: "none_failed" },
            "mark>stop",
            { from: "stop", to: "start", condition: { type: "equals", left: "output.decision", right: "refined" } },
            { from: "stop", to: "publish", condition: { type: "equals", left: "output.decision", right: "granted" } },
          ],
          variables: [TEXT, { name: "done", type: "boolean", defaultValue: false }],
        }),
      );
      const runId = await target.begin("asks-once", {}, "admin");
      const answer = async (node: string, resumeValue: object) => {
        await target.reaches(runId, WAITING);
        const path = `/v1/runs/${runId}/interrupts/${node}`;
        expect((await target.ask("POST", path, { as: "reviewer", body: { resumeValue } })).status).toBe(200);
      };
      await answer("gate", { action: "accept" });
      await answer("stop", { action: "refine", refineFeedback: { scope: "whole", text: "once more" } });
      await target.reaches(runId, WAITING);
      const log = await logOf(target, runId);
      const begins = log.findIndex(({ type }) => type === "assay.loop.entered") + 1;
      expect(begins).toBeGreaterThan(0);
      for (let fromSeq = begins; fromSeq <= log.length; fromSeq++) {
        const body = { mode: "branch", fromSeq, runOptionsOverlay: { inputs: { text: "harmful" } } };
        const answer = await target.ask("POST", `/v1/runs/${runId}:fork`, { as: "admin", body });
        expect(answer.status, answer.text).toBe(201);
        const { interrupts } = await target.reaches(answer.json.runId, WAITING);
        expect(interrupts, `from ${fromSeq}`).toMatchObject([{ nodeId: "gate" }]);
      }
    },
  },
  {
    title: "a branch with another text does not pass its gate by on the score of the first text",
    async attempt(target) {
      const long = { type: "expression", expression: "size(variables.text) > 20" } as const;
      const score = { typeId: "core.identity", inputs: { risky: long } };
      await target.register(
        workflow({
          id: "by-score",
          nodes: { score, gate: GATE, publish: PUBLISH },
          edges: [
            { from: "score", to: "gate", condition: { type: "truthy", left: "output.risky" } },
            { from: "score", to: "publish", triggerRule: "none_failed" },
            { from: "gate", to: "publish", triggerRule: "none_failed" },
          ],
          variables: [TEXT],
        }),
      );
      const overlay = { inputs: { text: "a text that is long and harmful" } };
      const runId = await target.begin("by-score", {}, "admin");
      await target.ends(runId);
      const log = await logOf(target, runId);
      for (let fromSeq = 1; fromSeq < log.length; fromSeq++) {
        const body = { mode: "branch", fromSeq, runOptionsOverlay: overlay };
        const answer = await target.ask("POST", `/v1/runs/${runId}:fork`, { as: "admin", body });
        expect(answer.status, answer.text).toBe(201);
        expect((await target.reaches(answer.json.runId, WAITING)).outputs).toBeUndefined();
      }
    },
  },
  {
    title: "a branch with other inputs waits again at the gate of its sub-workflow",
    async attempt(target) {
      await target.register(workflow({ id: "asks-below", nodes: { gate: GATE }, variables: [TEXT] }));
      const child = {
        typeId: "core.subWorkflow",
        config: { workflowId: "asks-below", inputMapping: { text: "text" } },
      };
      await target.register(
        workflow({ id: "asks-above", nodes: { child, publish: PUBLISH }, edges: ["child>publish"], variables: [TEXT] }),
      );
      const source = await approved(target, "asks-above");
      const runId = await branch(target, source.runId, "admin", source.to, { inputs: { text: "harmful" } });
      expect((await target.reaches(runId, WAITING)).outputs).toBeUndefined();
    },
  },
  {
    title:
      "a gate that holds for branches asks again when a result that it showed came from inputs that the branch changes",
    async attempt(target) {
      const render = { typeId: "core.identity", inputs: { document: SHOWS_TEXT.artifact } } as const;
      const shows = { artifact: { type: "connection", nodeId: "render", outputKey: "document" } } as const;
      const gate = { ...GATE, config: { approvalHoldsForBranches: true }, inputs: shows };
      await target.register(
        workflow({
          id: "rendered",
          nodes: { render, gate, publish: PUBLISH },
          edges: ["render>gate", "gate>publish"],
          variables: [TEXT],
        }),
      );
      const source = await approved(target, "rendered");
      for (let fromSeq = source.from; fromSeq <= source.to; fromSeq++) {
        const runId = await branch(target, source.runId, "admin", fromSeq, { inputs: { text: "harmful" } });
        expect((await target.reaches(runId, WAITING)).outputs).toBeUndefined();
      }
    },
  },
  {
    title: "a gate that holds for branches asks again about another artifact, also where only its id is shown",
    async attempt(target) {
      const gate = {
        typeId: "core.interrupt",
        config: { kind: "approval", approvalHoldsForBranches: true },
        inputs: { artifactId: SHOWS_TEXT.artifact },
      } as const;
      const nodes = { gate, publish: PUBLISH };
      await target.register(workflow({ id: "by-id", nodes, edges: ["gate>publish"], variables: [TEXT] }));
      const source = await approved(target, "by-id");
      const runId = await branch(target, source.runId, "admin", source.to, { inputs: { text: "harmful" } });
      expect((await target.reaches(runId, WAITING)).interrupt.data.artifactId).toBe("harmful");
    },
  },
  {
    title: "a gate of a branch with other inputs shows what comes of them, and names them",
    async attempt(target) {
      const render = { typeId: "core.identity", inputs: { document: SHOWS_TEXT.artifact } } as const;
      const shows = { artifact: { type: "connection", nodeId: "render", outputKey: "document" } } as const;
      const nodes = { render, gate: { ...GATE, inputs: shows }, publish: PUBLISH };
      const edges = ["render>gate", "gate>publish"];
      await target.register(workflow({ id: "kept-results", nodes, edges, variables: [TEXT] }));
      const source = await target.begin("kept-results", {}, "admin");
      await target.reaches(source, WAITING);
      const from = (await logOf(target, source)).findIndex(
        ({ type, nodeId }) => type === "node.started" && nodeId === "gate",
      );
      const first = await branch(target, source, "admin", from, { inputs: { text: "harmful" } });
      await target.reaches(first, WAITING);
      const began = (await logOf(target, first)).findIndex(({ type }) => type === "assay.branch.began");
      for (const runId of [first, await branch(target, first, "admin", began + 1)]) {
        const { interrupt } = await target.reaches(runId, WAITING);
        expect(interrupt.data).toMatchObject({ artifactData: "harmful", branch: { changedOptions: ["inputs.text"] } });
      }
    },
  },
  {
    title: "neither who started a run nor who branched it approves the branch where self-approval is forbidden",
    async attempt(target) {
      await target.register(workflow({ id: "four-eyes", nodes: { gate: FOUR_EYES }, variables: [TEXT] }));
      const source = await target.begin("four-eyes", {}, "admin");
      await target.reaches(source, WAITING);
      const first = await branch(target, source, "owner", 0);
      const runId = await branch(target, first, "owner", 0);
      await target.reaches(runId, WAITING);
      for (const as of ["admin", "owner"] as const) {
        const answer = await accept(target, runId, as);
        expect([answer.status, answer.json.error]).toEqual([403, "forbidden"]);
        const inbox = await target.ask("GET", `/v1/host/assay/inbox?runId=${runId}`, { as });
        expect(inbox.json.items).toEqual([]);
      }
      expect((await accept(target, runId, "reviewer")).status).toBe(200);
    },
  },
];
