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
const HARMFUL = { inputs: { text: "a text that is long and harmful" } };
const WAITING = ["waiting-approval", "waiting-external", "completed", "failed"];
const unapproved = { type: "falsy", left: "approved" } as const;
const join = (to: string, ...sources: string[]) =>
  sources.map((from) => ({ from, to, triggerRule: "none_failed" }) as const);

/** A branch from every point before the end waits without having executed the node. */
async function neverRuns(target: Target, runId: string, nodeId: string, overlay: object = {}): Promise<void> {
  const headers = { accept: "application/json" };
  const logOf = async (id: string): Promise<{ type: string; nodeId?: string }[]> =>
    (await target.ask("GET", `/v1/runs/${id}/events?streamMode=debug`, { headers })).json.events;
  const { length } = await logOf(runId);
  for (let fromSeq = 0; fromSeq < length; fromSeq++) {
    const body = { mode: "branch", fromSeq, runOptionsOverlay: overlay };
    const answer = await target.ask("POST", `/v1/runs/${runId}:fork`, { as: "admin", body });
    expect(answer.status, answer.text).toBe(201);
    await target.reaches(answer.json.runId, WAITING);
    const since = (await logOf(answer.json.runId)).slice(fromSeq);
    const ran = since.some((event) => event.type === "node.started" && event.nodeId === nodeId);
    expect(ran, `from ${fromSeq}`).toBe(false);
  }
}

async function approved(target: Target, workflowId: string): Promise<string> {
  const runId = await target.begin(workflowId, {}, "admin");
  await target.reaches(runId, ["waiting-approval"]);
  const body = { resumeValue: { action: "accept" } };
  const answer = await target.ask("POST", `/v1/runs/${runId}/interrupts/gate`, { as: "reviewer", body });
  expect(answer.status, answer.text).toBe(200);
  await target.ends(runId);
  return runId;
}

export const attacks: readonly Attack[] = [
  {
    title: "a branch does not pass a gate by on a variable that notes the first approval",
    async attempt(target) {
      const edges = [
        { from: "start", to: "gate", condition: unapproved },
        ...join("mark", "start", "gate"),
        "mark>publish",
      ];
      const nodes = { start: "core.noop", gate: GATE, mark: MARK, publish: PUBLISH } as const;
      const variables = [TEXT, APPROVED];
      await target.register(workflow({ id: "notes-it", nodes, edges, variables }));
      const source = await approved(target, "notes-it");
      await neverRuns(target, source, "publish", HARMFUL);
      const again = { ...nodes, effect: EFFECT };
      await target.register(
        workflow({ id: "notes-effect", nodes: again, edges: [...edges, "publish>effect"], variables }),
      );
      await neverRuns(target, await approved(target, "notes-effect"), "effect");
    },
  },
  {
    title: "a branch of a run that waits at a gate does not pass the gate by on a variable that was written meanwhile",
    async attempt(target) {
      const nodes = { start: "core.noop", gate: GATE, mark: MARK, effect: EFFECT } as const;
      const edges = [
        "start>mark",
        { from: "start", to: "gate", condition: unapproved },
        ...join("effect", "start", "gate"),
      ];
      await target.register(workflow({ id: "meanwhile", nodes, edges, variables: [TEXT, APPROVED] }));
      const runId = await target.begin("meanwhile", {}, "admin");
      const { variables } = await target.reaches(runId, ["waiting-approval"]);
      expect(variables.approved).toBe(true);
      await neverRuns(target, runId, "effect");
    },
  },
  {
    title: "a branch does not pass a gate by with a value in place of one that an edge has carried into a variable",
    async attempt(target) {
      const score = { typeId: "core.identity", inputs: { level: text } };
      await target.register(
        workflow({
          id: "carried",
          nodes: { score, set: "core.identity", gate: GATE, publish: PUBLISH },
          edges: [
            { from: "score", to: "set", sourceOutput: "level", targetInput: "risk" },
            { from: "set", to: "gate", condition: { type: "equals", left: "risk", right: "harmless" } },
            ...join("publish", "set", "gate"),
          ],
          variables: [TEXT, { name: "risk", type: "string", defaultValue: "none" }],
        }),
      );
      const source = await approved(target, "carried");
      await neverRuns(target, source, "publish", { inputs: { risk: "low" } });
    },
  },
  {
    title: "a branch does not publish past a gate that asks for certain on the score of the first text",
    async attempt(target) {
      const long = { type: "expression", expression: "size(variables.text) > 20" } as const;
      const low = { type: "falsy", left: "output.long" } as const;
      await target.register(
        workflow({
          id: "quick",
          nodes: { score: { typeId: "core.identity", inputs: { long } }, gate: GATE, publish: PUBLISH },
          edges: [
            "score>gate",
            { from: "score", to: "publish", triggerRule: "any_success", condition: low },
            { from: "gate", to: "publish", triggerRule: "any_success" },
          ],
          variables: [TEXT],
        }),
      );
      const runId = await target.begin("quick", {}, "admin");
      await target.reaches(runId, ["waiting-approval"]);
      await neverRuns(target, runId, "publish", HARMFUL);
    },
  },
  {
    title: "a branch does not pass a gate by on an event that was about the first text",
    async attempt(target) {
      const data = { eventType: "scored", correlation: { order: 7 } };
      const wait = { typeId: "core.interrupt", config: { kind: "external-event", data } };
      await target.register(
        workflow({
          id: "scored-outside",
          nodes: { wait, gate: GATE, publish: PUBLISH },
          edges: [
            { from: "wait", to: "gate", condition: { type: "truthy", left: "outputs.risky" } },
            ...join("publish", "wait", "gate"),
          ],
          variables: [TEXT],
        }),
      );
      const runId = await target.begin("scored-outside", {}, "admin");
      await target.reaches(runId, ["waiting-external"]);
      const body = { resumeValue: { order: 7, risky: false } };
      expect((await target.ask("POST", `/v1/runs/${runId}/interrupts/wait`, { body })).status).toBe(200);
      await target.ends(runId);
      await neverRuns(target, runId, "publish", HARMFUL);
    },
  },
  {
    title: "a gate that holds for branches lets nothing through but the result that it showed",
    async attempt(target) {
      const render = { typeId: "core.identity", inputs: { document: text } };
      const shown = { artifact: { type: "connection", nodeId: "render", outputKey: "document" } } as const;
      const gate = { typeId: "core.approvalGate", config: { approvalHoldsForBranches: true }, inputs: shown };
      const publish = {
        typeId: "core.identity",
        inputs: { published: { type: "variable", variableName: "document" } },
      } as const;
      await target.register(
        workflow({
          id: "replaced",
          nodes: { render, gate, publish },
          edges: ["render>gate", "gate>publish"],
          variables: [TEXT, { name: "document", type: "string", defaultValue: "" }],
        }),
      );
      const source = await approved(target, "replaced");
      const { length } = (await target.ask("GET", `/v1/runs/${source}/events/poll?limit=1000`)).json.events;
      for (let fromSeq = 0; fromSeq < length; fromSeq++) {
        const body = { mode: "branch", fromSeq, runOptionsOverlay: { inputs: { document: "harmful" } } };
        const answer = await target.ask("POST", `/v1/runs/${source}:fork`, { as: "admin", body });
        expect(answer.status, answer.text).toBe(201);
        const run = await target.reaches(answer.json.runId, WAITING);
        if (run.status === "completed") expect(run.outputs).toEqual({ published: "harmless" });
      }
    },
  },
  {
    title: "a gate that holds for branches shows nothing under a name that its digest leaves out",
    async attempt(target) {
      for (const name of ["branch", "previous"]) {
        const gate = {
          typeId: "core.interrupt",
          config: { kind: "approval", approvalHoldsForBranches: true },
          inputs: { [name]: text },
        };
        const body = workflow({
          id: "deploys",
          nodes: { gate, publish: PUBLISH },
          edges: ["gate>publish"],
          variables: [TEXT],
        });
        const answer = await target.ask("POST", "/v1/workflows", { body });
        expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`data.${name}`)]);
      }
    },
  },
];
