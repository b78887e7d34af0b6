import { NODE_TYPES } from "../engine/nodes/all.ts";
import { branchPoint } from "../engine/runs/branch-point.ts";
import { beginBranch, copyHistory, endBranch } from "../engine/runs/decide/fork-run.ts";
import { stamp } from "../engine/runs/stamp.ts";
import type { NodeType, NodeTypes } from "../engine/worker/node-type.ts";
import type { RunOptionsOverlay } from "../protocol/runs/fork-api.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import { Type } from "../protocol/schema.ts";
import { type Simulation, simulate } from "./simulate.ts";
import { type WorkflowSpec, workflow } from "./workflow.ts";

const config = Type.Object({}, { additionalProperties: true });

/** Sets the variables of its config. */
const SETS: NodeType = {
  kind: "pure",
  typeId: "test.sets",
  summary: "Sets variables.",
  config,
  execute: ({ config: { variables = {} } }) => ({
    type: "completed",
    outputs: {},
    variables: variables as Readonly<Record<string, unknown>>,
  }),
};

const ACTS: NodeType = {
  kind: "effect",
  typeId: "test.acts",
  summary: "Acts.",
  config,
  execute: async () => ({ type: "completed", outputs: {} }),
};

const TYPES: NodeTypes = new Map([...NODE_TYPES, [SETS.typeId, SETS], [ACTS.typeId, ACTS]]);

/** A run without a store. `test.sets` sets the variables of its config, `test.acts` is an effect. */
export function sourceRun(spec: object, request: object = {}): Simulation {
  return simulate(workflow(spec as WorkflowSpec), request, { nodeTypes: TYPES });
}

interface Branch {
  /** The sequence to branch from; without it, after all events. */
  readonly at?: number;
  readonly overlay?: RunOptionsOverlay;
  readonly by?: string;
  /** The number of later events of the source that one read gives. */
  readonly page?: number;
}

/** A branch of a simulated run, right after it began. Undefined where the run has ended there. */
export async function branchOf(source: Simulation, branch: Branch = {}): Promise<Simulation | undefined> {
  const { at = source.events.length, overlay = {}, by = "p2", page = Number.POSITIVE_INFINITY } = branch;
  const { plan, run } = source;
  const from = {
    runId: run.runId,
    fromSeq: at,
    mode: "branch",
    at: "2026-02-01T00:00:00.000Z",
    by,
    starters: ["p1"],
    sourceVersion: run.version,
  } as const;
  let names = 0;
  const newId = () => `evt-${names++}`;
  const runId = `${run.runId}-b`;
  const copied = copyHistory({ runId, from, history: source.events.slice(0, Math.max(1, at)), newEventId: newId });
  if (isTerminal(copied.run.status)) return undefined;
  const host = {
    nodeTypes: TYPES,
    plans: { byHash: async () => plan, current: async () => undefined },
    store: { readDocuments: async () => [], keysOf: async () => [], readRun: async () => undefined },
  };
  const readOn = async (count: number) => {
    const events = source.events.slice(copied.events.length, copied.events.length + Math.min(count, page));
    return { events, isCut: events.length === page };
  };
  const point = await branchPoint(host, plan, copied.run, overlay, {
    history: copied.events,
    sourceMode: run.forkedFrom?.mode,
    readOn,
  });
  const drafts = beginBranch(plan, copied.run, overlay, { maxNodeExecutions: 1000 }, point);
  const stamping = { runId, nowMs: Date.parse(from.at), newId };
  const begun = stamp(copied.run, drafts, stamping);
  const ended = stamp(begun.run, endBranch(plan, begun.run, copied.events), stamping);
  const state = { run: ended.run, events: [...copied.events, ...begun.events, ...ended.events] };
  return simulate(plan.definition, {}, { nodeTypes: TYPES, from: state });
}

/** A replay of a simulated run that has come as far as its source. */
export function replayOf({ plan, run, events }: Simulation): Simulation {
  const from = {
    runId: run.runId,
    fromSeq: events.length,
    mode: "replay",
    at: "2026-02-01T00:00:00.000Z",
    sourceVersion: run.version,
  } as const;
  let names = 0;
  const fork = { runId: `${run.runId}-r`, from, history: events, newEventId: () => `evt-r${names++}` };
  return simulate(plan.definition, {}, { nodeTypes: TYPES, from: copyHistory(fork) });
}

/** The nodes with effects that a run has begun, from this sequence on. */
export function acted({ plan, events }: Simulation, from = 0): string[] {
  const isActing = (id: string | undefined) => plan.graph.node.get(id ?? "")?.typeId === ACTS.typeId;
  const begun = events.filter(({ type, nodeId, sequence }) => {
    return sequence >= from && type === "node.started" && isActing(nodeId);
  });
  return begun.map(({ nodeId }) => nodeId ?? "");
}

/** The effects of a branch that nobody votes in, beyond those of a new run with the same inputs that nobody votes in. */
export async function actedWithoutVotes(
  source: Simulation,
  branch: Branch = {},
  given: Readonly<Record<string, unknown>> = {},
): Promise<string[]> {
  const begun = await branchOf(source, branch);
  if (begun === undefined) return [];
  const began = begun.events.findLast(({ type }) => type === "assay.branch.began");
  // Values that the source has come to by itself change nothing.
  const isChanged = began?.type === "assay.branch.began" && (began.payload.changes ?? []).length > 0;
  const inputs = isChanged ? { ...given, ...branch.overlay?.inputs } : given;
  const anew = simulate(source.plan.definition, { inputs }, { nodeTypes: TYPES }).go();
  const allowed = new Set(acted(anew));
  const { length } = begun.events;
  return acted(begun.go(), length).filter((id) => !allowed.has(id));
}
