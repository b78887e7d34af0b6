import type { EventDraft, RunEvent } from "../../../protocol/events.ts";
import { type EntryChanges, RESTORED, RESTORED_WHOLE } from "../../../protocol/evolve/branch.ts";
import type { Interrupt } from "../../../protocol/gates/interrupt.ts";
import { own } from "../../../protocol/own.ts";
import {
  evolve,
  fold,
  isSettled,
  type NodeState,
  type Run,
  type Scratch,
  visitOf,
} from "../../../protocol/runs/run.ts";
import { isTerminal } from "../../../protocol/runs/run-status.ts";
import type { WorkflowEdge } from "../../../protocol/workflows/workflow.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import { INPUT_INVALID } from "../../workflows/decide/resolve-inputs.ts";
import { COMPUTED } from "./beginnings.ts";
import { stepOf } from "./next-step.ts";

type Payload = Extract<EventDraft, { type: "assay.branch.began" }>["payload"];

/** The members of `assay.branch.began` that take a branch back to an earlier state. */
export type GoingBack = Required<Pick<Payload, "goesBackTo" | "nodeIds" | "enters" | "restores" | "voids" | "holds">>;

/** The run before the event at `sequence`, with the options that later branches in this history got. */
export function stateBefore(history: readonly RunEvent[], sequence: number): Run {
  const run = fold(history.slice(0, sequence));
  if (run === undefined) throw new Error("a run has a first event");
  let { variables } = run;
  for (const event of history.slice(sequence)) {
    if (event.type !== "assay.branch.began" || (event.payload.changes ?? []).length === 0) continue;
    variables = { ...variables, ...(event.sealed ?? event.payload).inputs };
  }
  return { ...run, variables };
}

/** The history without sealed payloads: as readers see it. */
export function withoutSealed(history: readonly RunEvent[]): readonly RunEvent[] {
  return history.some(({ sealed }) => sealed !== undefined)
    ? history.map((event) => ({ ...event, sealed: undefined }) as unknown as RunEvent)
    : history;
}

/**
 * How a branch goes back from `run` to `then`. Answers since then are void, except for decisions that may hold.
 *
 * @param mayHold whether a decision holds for a branch whose gate shows the same
 */
export function goingBack(run: Run, then: Run, mayHold: (interrupt: Interrupt) => boolean): GoingBack {
  const nodeIds = touchedSince(run, then);
  const open = answeredSince(run, then);
  const holds = open.flatMap((one) => {
    const key = mayHold(one) ? keyInBranch(run, then, one) : undefined;
    return key === undefined ? [] : [{ interruptId: one.interruptId, key }];
  });
  const held = new Set(holds.map(({ interruptId }) => interruptId));
  return {
    goesBackTo: then.version,
    nodeIds,
    enters: underWay(then),
    restores: restoring(run, then),
    voids: open.map(({ interruptId }) => interruptId).filter((id) => !held.has(id)),
    holds,
  };
}

/** Nodes that were decided about at a point of a log and had not begun. */
export interface Decided {
  readonly starts: readonly string[];
  readonly skips: readonly string[];
  /** Nodes that began later and need not wait for all before them: they were decided about only if an edge had fired. */
  readonly eager: readonly string[];
}

/**
 * Several nodes are decided about together and begin one after the other, and writes of the first may change the conditions of the others.
 * From a point between them a branch keeps the decisions of its source.
 *
 * @param following the computed events after the point
 */
export function decidedBefore({ graph }: Plan, then: Run, following: readonly RunEvent[]): Decided {
  const seen = new Set<string>();
  const starts: string[] = [];
  const skips: string[] = [];
  const eager: string[] = [];
  for (const { type, nodeId } of following) {
    if (nodeId === undefined || (type !== "node.started" && type !== "node.skipped") || seen.has(nodeId)) continue;
    seen.add(nodeId);
    if (own(then.nodes, nodeId) !== undefined) continue;
    const rules = graph.rulesInto.get(nodeId) ?? [];
    const isSettledAt = ({ sourceNodeId }: WorkflowEdge) => isSettled(own(then.nodes, sourceNodeId));
    const isReady = rules.every(([, edges]) => edges.every(isSettledAt));
    // These rules need not wait for all edges.
    const mayFire = rules.every(([rule, edges]) =>
      rule.startsWith("any_") ? edges.some(isSettledAt) : edges.every(isSettledAt),
    );
    if (type === "node.started" && isReady) starts.push(nodeId);
    else if (type === "node.started" && mayFire) eager.push(nodeId);
    if (type === "node.skipped" && isReady) skips.push(nodeId);
  }
  return { starts, skips, eager };
}

/** Evaluations of nodes' conditions for one branch, at most. */
const EVALUATED_MAX = 2000;

/**
 * Those of the nodes that were to begin at the end of a log, or at an earlier point with only computed events since. The others may have begun
 * because of later events from outside, such as a model's answer, which may differ in a branch. Undefined where finding them takes too much
 * work.
 */
export function* firedBefore(
  plan: Plan,
  history: readonly RunEvent[],
  ids: readonly string[],
): Generator<void, string[] | undefined> {
  const left = new Set(ids);
  let evaluated = 0;
  const scratch: Scratch = {};
  let at = history.findLastIndex(({ type }) => !COMPUTED.has(type)) + 1;
  let run = fold(history.slice(0, at));
  while (run !== undefined && left.size > 0) {
    for (const id of left) {
      if (++evaluated > EVALUATED_MAX) return undefined;
      const node = plan.graph.node.get(id);
      if (node !== undefined && stepOf(plan, run, node)?.type === "start") left.delete(id);
      yield;
    }
    const event = history[at++];
    if (event === undefined) break;
    run = evolve(run, event, scratch);
  }
  return ids.filter((id) => !left.has(id));
}

/**
 * Whether an event has another cause than the decisions at this point.
 *
 * @param isPure whether a node ends in the turn in which it begins
 */
export function isFromOutside(then: Run, event: RunEvent, isPure: (nodeId: string) => boolean): boolean {
  const { type, nodeId, sequence, payload } = event;
  if (!COMPUTED.has(type)) return true;
  // A node with effects whose inputs are missing fails in the turn in which it begins, before any effect.
  if (type === "node.failed" && sequence === then.version && payload.error.code === INPUT_INVALID) return false;
  const before = nodeId === undefined ? undefined : own(then.nodes, nodeId);
  if (nodeId === undefined || before === undefined || type === "node.started") return false;
  return before.status !== "executing" || !isPure(nodeId);
}

export function underWay({ nodes }: Pick<Run, "nodes">): string[] {
  return Object.keys(nodes).filter((id) => !isSettled(own(nodes, id)));
}

/** Nodes that changed since, or were under way: their next execution is another visit. */
function touchedSince(run: Run, then: Run): string[] {
  const ids = new Set([...Object.keys(then.nodes), ...Object.keys(run.nodes), ...Object.keys(run.visits)]);
  const isKept = (id: string) => {
    const [before, now] = [own(then.nodes, id), own(run.nodes, id)];
    const isSame = visitOf(run, id) === visitOf(then, id) && deepEqual(before, now);
    return isSame && (before === undefined || isSettled(before));
  };
  return [...ids].filter((id) => !isKept(id));
}

/** Interrupts that were not answered then, or whose node had not continued with the answer. */
function answeredSince(run: Run, then: Run): Interrupt[] {
  const isOver = ({ interruptId, nodeId }: Interrupt) => {
    const before = own(then.interrupts, interruptId);
    if (before === undefined || before.status === "open") return false;
    return own(then.nodes, nodeId)?.interruptId !== interruptId || isSettled(own(then.nodes, nodeId));
  };
  return Object.values(run.interrupts).filter((one) => one.reopened === undefined && !isOver(one));
}

/** The key of the gate in the same round of the branch, counted from the point that the branch goes back to. */
function keyInBranch(run: Run, then: Run, { key, nodeId }: Interrupt): string | undefined {
  const round = key.startsWith(`${nodeId}:`) ? Number(key.slice(nodeId.length + 1)) : Number.NaN;
  if (!Number.isSafeInteger(round)) return undefined;
  return `${nodeId}:${visitOf(run, nodeId) + 1 + round - visitOf(then, nodeId)}`;
}

/** The changes from the present state to that of `then`, without nodes that were under way. */
export function restoring(run: Run, then: Run): GoingBack["restores"] {
  const settled: Readonly<Record<string, NodeState>> = pick(then.nodes, isSettled);
  const over = pick(then.children, ({ status }) => isTerminal(status));
  const target: Run = { ...then, nodes: settled, children: over };
  const whole = (one: Run) =>
    Object.fromEntries(RESTORED_WHOLE.flatMap((name) => (one[name] === undefined ? [] : [[name, one[name]]])));
  const records = RESTORED.map((name) => [name, changesBetween(run[name], target[name])] as const);
  const all = [...records, ["members", changesBetween(whole(run), whole(then))] as const];
  return Object.fromEntries(all.filter(([, { set, removed }]) => Object.keys(set).length + removed.length > 0));
}

type Entries = Readonly<Record<string, unknown>>;

function changesBetween(before: Entries, after: Entries): EntryChanges & { removed: string[] } {
  const isNew = ([name, value]: [string, unknown]) =>
    !Object.hasOwn(before, name) || !deepEqual(own(before, name), value);
  return {
    set: Object.fromEntries(Object.entries(after).filter(isNew)),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}

function pick<T>(entries: Readonly<Record<string, T>>, wanted: (value: T) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => wanted(value)));
}
