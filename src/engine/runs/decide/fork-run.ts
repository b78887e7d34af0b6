import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft, RunEvent } from "../../../protocol/events.ts";
import { own } from "../../../protocol/own.ts";
import type { RunOptionsOverlay } from "../../../protocol/runs/fork-api.ts";
import type { ForkedFrom } from "../../../protocol/runs/forked-from.ts";
import { fold, type Run } from "../../../protocol/runs/run.ts";
import { isTerminal } from "../../../protocol/runs/run-status.ts";
import { maskFields } from "../../../protocol/runs/snapshot.ts";
import { inTrace, type Trace } from "../../../protocol/runs/trace.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import { LET_GO } from "./beginnings.ts";
import { unhandled } from "./edge-outcomes.ts";
import { failRun } from "./end-run.ts";
import { type Decided, type GoingBack, underWay } from "./go-back.ts";
import { checkConfigurable, checkInputNames, checkInputs, type RunLimits, runLimits } from "./start-run.ts";

interface Fork {
  readonly runId: string;
  readonly from: ForkedFrom;
  /** The source's events before `from.fromSeq`, and at least its first. */
  readonly history: readonly RunEvent[];
  readonly trace?: Trace | undefined;
  newEventId(): string;
}

/** The beginning of a fork's log: the source's history with ids of its own. With `fromSeq` 0 the run begins anew. */
export function copyHistory({ runId, from, history, trace, newEventId }: Fork): { run: Run; events: RunEvent[] } {
  const names = new Map(history.map(({ eventId }) => [eventId, newEventId()]));
  const events = history.map((event): RunEvent => {
    const causationId = event.causationId === undefined ? undefined : names.get(event.causationId);
    const cause = defined({ causationId });
    const copied = { ...event, runId, eventId: names.get(event.eventId) ?? newEventId(), ...cause };
    if (copied.type !== "run.started") return copied;
    // A fork is in the trace of its own request, not in that of its source.
    const sealed = { ...inTrace(copied.sealed ?? copied.payload, trace), forkedFrom: from };
    return { ...copied, sealed, ...(from.fromSeq === 0 ? { timestamp: from.at } : {}) };
  });
  const run = fold(events);
  if (run === undefined) throw new Error(`run ${from.runId} has no first event`);
  return { run, events };
}

type BranchBegan = Extract<EventDraft, { type: "assay.branch.began" }>;

/** The beginning of a branch of a workflow that asks a person or waits for an event. */
export interface BranchPoint {
  readonly decided: Pick<Decided, "starts" | "skips">;
  /** Present where it goes back to before its fork point. */
  readonly back?: BranchBack;
}

interface BranchBack {
  readonly sealed: GoingBack;
  /** The restored state as readers see it. */
  readonly shown: GoingBack["restores"];
  /** Nodes whose gates were decided before the fork point and ask again. */
  readonly reopens: readonly string[];
  /** Options whose value differs from the value at that point. */
  readonly changes: readonly string[];
}

/** The first event of a branch after its history; none where the run has ended there. */
export function beginBranch(
  plan: Plan,
  run: Run,
  overlay: RunOptionsOverlay,
  host: RunLimits,
  point?: BranchPoint,
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
  const { back, decided = { starts: [], skips: [] } } = point ?? {};
  const changes = [...new Set([...changedOptions(run, overlay), ...(back?.changes ?? [])])];
  const nodeIds = underWay(run);
  const begins = back === undefined ? { nodeIds, enters: nodeIds } : { ...back.sealed, reopens: [...back.reopens] };
  const payload = {
    ...begins,
    enters: [...begins.enters, ...decided.starts],
    ...(decided.skips.length === 0 ? {} : { skips: [...decided.skips] }),
    ...(back === undefined && changes.length === 0 ? {} : { changes }),
    ...defined({ inputs }),
    ...(configurable === undefined ? {} : { configurable, limits: runLimits(plan, merged, host) }),
    ...defined({ tags, metadata }),
  };
  const masked = new Set([...plan.sensitivity.variables, ...(run.sensitive ?? [])]);
  const masksInputs = inputs !== undefined && Object.keys(inputs).some((name) => masked.has(name));
  const masksState = back !== undefined && back.shown !== back.sealed.restores;
  if (!masksInputs && !masksState) return [{ type: "assay.branch.began", payload }];
  const shown = {
    ...payload,
    ...(masksInputs ? { inputs: maskFields(inputs, masked) } : {}),
    ...(masksState ? { restores: back.shown } : {}),
  };
  return [{ type: "assay.branch.began", payload: shown, sealed: payload }];
}

/**
 * The end of a branch whose history ends between an unhandled failure and the end of its source: no further node would have begun there.
 * Nothing for other branches.
 *
 * @param run the branch after it began
 * @param history what was copied
 */
export function endBranch(plan: Plan, run: Run, history: readonly RunEvent[]): EventDraft[] {
  const last = history.findLast(({ type }) => !LET_GO.has(type));
  if (isTerminal(run.status) || last?.nodeId === undefined) return [];
  if (last.type !== "node.failed" && last.type !== "node.completed") return [];
  const error = unhandled(plan, run, last.nodeId);
  return error === undefined ? [] : failRun(run, error, last.nodeId);
}

/** Checks the given inputs only: the others keep their values. */
function checkGiven(plan: Plan, inputs: Readonly<Record<string, unknown>>): void {
  checkInputNames(plan.definition, inputs);
  const given = plan.definition.variables.filter(({ name }) => Object.hasOwn(inputs, name));
  checkInputs(given, inputs);
}

/** The options to which an overlay gives another value, as `inputs.NAME` or `configurable.NAME`. */
export function changedOptions(run: Run, { inputs, configurable }: RunOptionsOverlay): string[] {
  return [
    ...changedNames(run.variables, inputs).map((name) => `inputs.${name}`),
    ...changedNames(run.configurable, configurable).map((name) => `configurable.${name}`),
  ];
}

type Values = Readonly<Record<string, unknown>>;

function changedNames(before: Values = {}, given: Values = {}): string[] {
  return Object.keys(given).filter(
    (name) => !Object.hasOwn(before, name) || !deepEqual(own(before, name), given[name]),
  );
}
