import { defined } from "../defined.ts";
import type { RunEvent } from "../events.ts";
import type { Interrupt } from "../gates/interrupt.ts";
import { own } from "../own.ts";
import { ENTERED, isSettled, type NodeState } from "../runs/node-state.ts";
import type { Child, Run } from "../runs/run.ts";
import { isTerminal } from "../runs/run-status.ts";
import { startOver } from "./nodes.ts";

type BranchBegan = Extract<RunEvent, { type: "assay.branch.began" }>;

/** Changes of a record: entries with another value, and removed ones. */
export interface EntryChanges {
  readonly set: Readonly<Record<string, unknown>>;
  readonly removed: readonly string[];
}

/** The parts of a run that go back to an earlier state. Counters of the run, its costs and its secrets do not. */
export const RESTORED = ["variables", "nodes", "channels", "loops", "pins", "children"] as const;
export const RESTORED_WHOLE = ["agent", "orchestrator"] as const;

/**
 * The copied history ends here. Nodes that were under way belong to the source: they begin again, and ask and dispatch
 * anew; a pause or cancellation of the source is none of the branch. A branch that goes back has the state of an earlier
 * sequence; what was decided since stays in sight, and holds only where it is named.
 */
export function branched(run: Run, event: BranchBegan): Run {
  const payload = event.sealed ?? event.payload;
  const { changes, inputs, configurable, tags, metadata, limits, sensitiveInputs = [] } = payload;
  const { pause: _, pausedAt: __, cancel: ___, ...rest } = run;
  const state: Run =
    payload.restores === undefined ? continuedBranch(rest, payload) : restoredBranch(rest, payload, payload.restores);
  return {
    ...state,
    status: run.status === "pending" ? "pending" : "running",
    nodes: { ...state.nodes, ...nodesAs(ENTERED, payload.enters), ...nodesAs(SKIPPED, payload.skips) },
    variables: { ...state.variables, ...inputs },
    ...defined({
      configurable: configurable && { ...run.configurable, ...configurable },
      tags,
      metadata: metadata && { ...run.metadata, ...metadata },
      limits,
    }),
    ...(sensitiveInputs.length === 0
      ? {}
      : { sensitive: [...new Set([...(run.sensitive ?? []), ...sensitiveInputs])] }),
    ...changedWith(run, changes),
  };
}

const SKIPPED: NodeState = { status: "skipped", attempt: 0 };

function nodesAs(state: NodeState, ids: readonly string[] = []): Readonly<Record<string, NodeState>> {
  return Object.fromEntries(ids.map((id) => [id, state]));
}

function continuedBranch(run: Run, { nodeIds, reopens, changes }: BranchBegan["payload"]): Run {
  const again = new Set(nodeIds);
  const asked = new Set(nodeIds.flatMap((id) => own(run.nodes, id)?.interruptId ?? []));
  const isOver = ([, child]: [string, Child]) =>
    isTerminal(child.status) && !(again.has(child.nodeId) && child.visit === (own(run.visits, child.nodeId) ?? 0));
  // Logs from before branches went back name the gates that ask again.
  const isVoid = ({ nodeId }: Interrupt) => reopens !== undefined && again.has(nodeId);
  const interrupts = Object.entries(run.interrupts)
    .filter(([id, one]) => one.status !== "open" && (!asked.has(id) || isSettled(own(run.nodes, one.nodeId))))
    .map(([id, one]) => [id, isVoid(one) ? { ...one, reopened: changes ?? [] } : one] as const);
  return {
    ...run,
    ...startOver(run, nodeIds),
    interrupts: Object.fromEntries(interrupts),
    children: Object.fromEntries(Object.entries(run.children).filter(isOver)),
  };
}

function restoredBranch(run: Run, payload: BranchBegan["payload"], { members, ...records }: Restores): Run {
  const { nodeIds, changes = [], voids = [], holds = [] } = payload;
  const isVoid = new Set(voids);
  const keys = new Map(holds.map(({ interruptId, key }) => [interruptId, key]));
  const interrupts = Object.entries(run.interrupts)
    .filter(([, { status }]) => status !== "open")
    .map(([id, one]) => {
      const key = keys.get(id);
      if (key !== undefined) return [id, { ...one, key, held: true as const }] as const;
      return [id, isVoid.has(id) ? { ...one, reopened: changes } : one] as const;
    });
  const restored = RESTORED.map((name) => [name, after(run[name], records[name])] as const);
  return {
    ...after(run as unknown as Entries, members),
    ...(Object.fromEntries(restored) as Pick<Run, (typeof RESTORED)[number]>),
    visits: startOver(run, nodeIds).visits,
    interrupts: Object.fromEntries(interrupts),
  } as Run;
}

type Restores = NonNullable<BranchBegan["payload"]["restores"]>;
type Entries = Readonly<Record<string, unknown>>;

function after(before: Entries, { set, removed }: EntryChanges = { set: {}, removed: [] }): Entries {
  const gone = new Set(removed);
  return { ...Object.fromEntries(Object.entries(before).filter(([name]) => !gone.has(name))), ...set };
}

/** A branch of a branch differs in what either changed. */
function changedWith({ branchChanges: before = [] }: Run, changes: readonly string[] = []): Pick<Run, "branchChanges"> {
  return before.length + changes.length === 0 ? {} : { branchChanges: [...new Set([...before, ...changes])] };
}
