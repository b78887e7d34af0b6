import { expect, test } from "vitest";
import { sourceRun } from "../../testing/branches.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { resolveInterrupt } from "../gates/resolve-interrupt.ts";
import { NODE_TYPES } from "../nodes/all.ts";
import { forkRun, refuseOutdated } from "./fork-run.ts";

const QUIET = { nodes: { draft: "core.noop" } };
/** A type that is not known may have effects. */
const ACTS = { nodes: { act: "test.acts" } };
const ASKS = { nodes: { draft: "core.noop", gate: "core.approvalGate" }, edges: ["draft>gate"] };
const INPUTS = { inputs: { text: "another" } };
const CONFIGURABLE = { configurable: { colour: "blue" } };

/** The code of the refusal of a branch whose source executed one definition, where another one is registered now. */
async function refusalOf(before: object, now: object | undefined, overlay: object = {}): Promise<unknown> {
  const { plan, run } = sourceRun(before);
  const current = now === undefined ? undefined : sourceRun(now).plan;
  const host = { nodeTypes: NODE_TYPES, plans: { current: async () => current } };
  return refuseOutdated(host, plan, run, overlay).catch(({ code }) => code);
}

test("a branch with other inputs or options is refused where the workflow was registered anew and asks a person", async () => {
  for (const overlay of [INPUTS, CONFIGURABLE]) {
    expect(await refusalOf(QUIET, ASKS, overlay)).toBe("fork_point_invalid");
    expect(await refusalOf(QUIET, ACTS, overlay)).toBeUndefined();
    expect(await refusalOf(ASKS, ASKS, overlay)).toBeUndefined();
    expect(await refusalOf(QUIET, undefined, overlay)).toBeUndefined();
  }
});

test("a branch that changes nothing is refused there only where a node has effects", async () => {
  expect(await refusalOf(ACTS, ASKS)).toBe("fork_point_invalid");
  expect(await refusalOf(QUIET, ASKS)).toBeUndefined();
  expect(await refusalOf(ACTS, QUIET)).toBeUndefined();
});

test("a branch is refused where its workflow is not active any more, whatever it does", async () => {
  for (const off of [{ isActive: false }, { status: "archived" }]) {
    for (const overlay of [{}, INPUTS]) {
      expect(await refusalOf(QUIET, { ...QUIET, ...off }, overlay)).toBe("fork_point_invalid");
    }
  }
});

const bench = workbench();

test("a branch is refused whose source is deleted while it is made, at whichever read", async () => {
  const host = engineOn(bench.store);
  const noted = { typeId: "core.identity", inputs: { approved: { type: "static", value: true } } } as const;
  const workflowId = await register(
    host,
    workflow({
      nodes: { start: "core.noop", mark: noted, gate: "core.approvalGate", act: "core.orchestrator.supervisor" },
      edges: [
        "start>mark",
        { from: "start", to: "gate", condition: { type: "falsy", left: "variables.approved" } },
        { from: "start", to: "act", triggerRule: "none_failed" },
        { from: "gate", to: "act", triggerRule: "none_failed" },
      ],
      variables: [{ name: "approved", type: "boolean", defaultValue: false }],
    }),
  );
  bench.work(host);
  const runId = await begin(host, { workflowId });
  await until(bench.store, runId, ({ status }) => status === "waiting-approval");
  const vote = { caller: ADA, runId, of: { nodeId: "gate" }, value: { action: "accept" }, record: () => undefined };
  await resolveInterrupt(host, vote);
  await until(bench.store, runId, ended);
  const log = await logOf(bench.store, runId);
  const fromSeq = log.findIndex(({ type, nodeId }) => type === "node.completed" && nodeId === "mark") + 1;
  const request = { mode: "branch", fromSeq } as const;
  for (let reads = 0; ; reads++) {
    let left = reads;
    const readEvents = async (...read: Parameters<typeof host.store.readEvents>) =>
      left-- > 0 ? host.store.readEvents(...read) : [];
    const doomed = { ...host, store: { ...host.store, readEvents } };
    const answer = await forkRun(doomed, { ...change(runId), request }).catch(({ code }) => code);
    if (answer === "fork_source_expired") continue;
    // The history, and what the source came to after it.
    expect(reads).toBe(2);
    const branch = await until(bench.store, answer.runId, ({ status }) => status !== "pending" && status !== "running");
    expect(branch.status).toBe("waiting-approval");
    break;
  }
});
