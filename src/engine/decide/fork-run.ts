import { AppError } from "../../protocol/errors.ts";
import type { EventDraft, RunEvent } from "../../protocol/events.ts";
import type { RunOptionsOverlay } from "../../protocol/fork-api.ts";
import type { ForkedFrom } from "../../protocol/forked-from.ts";
import { fold, isSettled, type Run } from "../../protocol/run.ts";
import { isTerminal } from "../../protocol/run-status.ts";
import { maskFields } from "../../protocol/snapshot.ts";
import { inTrace, type Trace } from "../../protocol/trace.ts";
import { changedOptions } from "./branch-options.ts";
import { reachableFrom } from "./graph.ts";
import { checkInputNames } from "./input-names.ts";
import type { Plan } from "./plan.ts";
import { checkConfigurable, checkInputs, type RunLimits, runLimits } from "./start-run.ts";

export interface Fork {
  readonly runId: string;
  readonly from: ForkedFrom;
  /** The source's events before `from.fromSeq`, and at least its first. */
  readonly history: readonly RunEvent[];
  readonly trace?: Trace | undefined;
  newEventId(): string;
}

/** The beginning of a fork's log: the source's history as its own. Where none of it is kept, the run begins anew. */
export function copyHistory({ runId, from, history, trace, newEventId }: Fork): { run: Run; events: RunEvent[] } {
  const names = new Map(history.map(({ eventId }) => [eventId, newEventId()]));
  const events = history.map((event): RunEvent => {
    const causationId = event.causationId === undefined ? undefined : names.get(event.causationId);
    const cause = causationId === undefined ? {} : { causationId };
    const copied = { ...event, runId, eventId: names.get(event.eventId) ?? newEventId(), ...cause };
    if (copied.type !== "run.started") return copied;
    // A fork is in the trace of the request that forked, not in that of its source.
    const sealed = { ...inTrace(copied.sealed ?? copied.payload, trace), forkedFrom: from };
    return { ...copied, sealed, ...(from.fromSeq === 0 ? { timestamp: from.at } : {}) };
  });
  const run = fold(events);
  if (run === undefined) throw new Error(`run ${from.runId} has no first event`);
  return { run, events };
}

type BranchBegan = Extract<EventDraft, { type: "assay.branch.began" }>;

/**
 * What a branch begins with after its history. Nothing when the run has ended there. `reopens` are the gates whose decision
 * does not hold for it: they start over, with every node after them.
 */
export function beginBranch(
  plan: Plan,
  run: Run,
  overlay: RunOptionsOverlay,
  host: RunLimits,
  reopens: readonly string[] = [],
): BranchBegan[] {
  if (isTerminal(run.status)) {
    if (Object.keys(overlay).length === 0) return [];
    const problem = "it has ended there, and options change nothing any more";
    throw new AppError("fork_point_invalid", { problem, sourceRunId: run.forkedFrom?.runId });
  }
  const { inputs, configurable, tags, metadata } = overlay;
  const merged = { ...run.configurable, ...configurable };
  if (configurable !== undefined) checkConfigurable(plan, merged);
  if (inputs !== undefined) checkGiven(plan, inputs);
  const changes = changedOptions(run, overlay);
  const payload = {
    nodeIds: startingOver(plan, run, reopens),
    ...(reopens.length === 0 ? {} : { reopens: [...reopens] }),
    ...(reopens.length + changes.length === 0 ? {} : { changes }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(configurable === undefined ? {} : { configurable, limits: runLimits(plan, merged, host) }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  const masked = new Set([...plan.sensitivity.variables, ...(run.sensitive ?? [])]);
  if (inputs === undefined || !Object.keys(inputs).some((name) => masked.has(name))) {
    return [{ type: "assay.branch.began", payload }];
  }
  const shown = { ...payload, inputs: maskFields(inputs, masked) };
  return [{ type: "assay.branch.began", payload: shown, sealed: payload }];
}

/** Nodes that had begun and not ended, and all that had begun at or after a gate that asks again. */
function startingOver({ graph }: Plan, run: Run, reopens: readonly string[]): string[] {
  const again = new Set(reopens.flatMap((id) => reachableFrom(graph, id)));
  return Object.keys(run.nodes).filter((id) => again.has(id) || !isSettled(run.nodes[id]));
}

/** Only what is given is looked at: the rest has its value already. */
function checkGiven(plan: Plan, inputs: Readonly<Record<string, unknown>>): void {
  checkInputNames(plan.definition, inputs);
  const given = plan.definition.variables.filter(({ name }) => Object.hasOwn(inputs, name));
  checkInputs(given, inputs);
}
