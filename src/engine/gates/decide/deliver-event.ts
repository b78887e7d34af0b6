import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import type { Interrupt } from "../../../protocol/gates/interrupt.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import { answerInterrupt } from "./answer-interrupt.ts";
import { expireInterrupt, isOverdue } from "./close-interrupt.ts";
import { endOf, overdue } from "./resolve-interrupt.ts";

export interface ExternalEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly correlationId: string;
  /** With the secrets that its receivers get; readers are shown them masked. */
  readonly payload: unknown;
  /** The principal that sent it. */
  readonly by: string;
}

/** What is written to a run about one of its interrupts. */
export interface InterruptChange {
  readonly run: Run;
  readonly interrupt: Interrupt;
  readonly events: readonly EventDraft[];
}

export interface EventRuling {
  readonly delivered: readonly InterruptChange[];
  /** These were past their deadline and end by it, whatever becomes of the event. */
  readonly expired: readonly InterruptChange[];
  /** Why nobody took it. */
  readonly refusal?: AppError;
}

/** An event that says two things about what it belongs to belongs to nothing. */
export function requireConsistent(correlation: Readonly<Record<string, unknown>>, payload: unknown): void {
  if (!isObject(payload)) return;
  const members = Object.keys(correlation).filter(
    (name) => Object.hasOwn(payload, name) && !deepEqual(payload[name], correlation[name]),
  );
  if (members.length > 0) throw new AppError("correlation_mismatch", { members });
}

/**
 * Gives the event to all that wait for it, or to none: throws when one of them cannot take it. When nobody waits, the
 * newest of those that did says why.
 */
export function deliverEvent(runs: readonly Run[], event: ExternalEvent, nowMs: number): EventRuling {
  const all = waitsFor(runs, event);
  const at = new Date(nowMs).toISOString();
  const open = all.filter(isOpen);
  const expired = open
    .filter(({ interrupt }) => isOverdue(interrupt, nowMs))
    .map((wait) => ({ ...wait, events: expireInterrupt(wait.interrupt, at) }));
  const delivered = open
    .filter(({ interrupt }) => !isOverdue(interrupt, nowMs))
    .map((wait) => ({ ...wait, events: answered(wait, event, at) }));
  if (delivered.length > 0) return { delivered, expired };
  return { delivered, expired, refusal: refusalOf(all.at(-1), nowMs) };
}

/** A held event goes to whoever has waited longest and can take it. `undefined` when nobody can, or nobody waits. */
export function giveHeldEvent(
  runs: readonly Run[],
  event: ExternalEvent,
  nowMs: number,
): { readonly waiting: number; readonly given?: InterruptChange } {
  const at = new Date(nowMs).toISOString();
  const waits = waitsFor(runs, event).filter((wait) => isOpen(wait) && !isOverdue(wait.interrupt, nowMs));
  for (const wait of waits) {
    try {
      return { waiting: waits.length, given: { ...wait, events: answered(wait, event, at) } };
    } catch (error) {
      // Its schema wants something else: then this is not what it waits for.
      if (!(error instanceof AppError)) throw error;
    }
  }
  return { waiting: waits.length };
}

interface Wait {
  readonly run: Run;
  readonly interrupt: Interrupt;
}

/** Of any status, oldest first. */
function waitsFor(runs: readonly Run[], { eventType, correlationId }: ExternalEvent): Wait[] {
  return runs
    .flatMap((run) => Object.values(run.interrupts).map((interrupt) => ({ run, interrupt })))
    .filter(({ interrupt }) => interrupt.kind === "external-event" && interrupt.correlationId === correlationId)
    .filter(({ interrupt }) => interrupt.data["eventType"] === eventType)
    .sort((a, b) => (a.interrupt.interruptId < b.interrupt.interruptId ? -1 : 1));
}

function isOpen({ run, interrupt }: Wait): boolean {
  return endOf(run, interrupt, false) === undefined;
}

/**
 * What the node is given: the members of the payload (or the payload as `payload`, when it is no object), the event's
 * id and type, and over all of them the correlation as the run has it, so that the rule of matching holds.
 */
function answered({ run, interrupt }: Wait, event: ExternalEvent, at: string): EventDraft[] {
  const { payload, eventId, eventType, by } = event;
  const said = isObject(payload) ? payload : { payload };
  const correlation = interrupt.data["correlation"] as Readonly<Record<string, unknown>>;
  const value = { ...said, eventId, eventType, ...correlation };
  try {
    // An event that was sent by the id of its correlation is compared with the correlation only here.
    requireConsistent(correlation, payload);
    return answerInterrupt(interrupt, value, { principal: by, kind: "user" }, at);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { nodeId, interruptId } = interrupt;
    throw new AppError(error.code, { ...error.details, runId: run.runId, nodeId, interruptId });
  }
}

const NOTHING_WAITED = "nothing waits for this event; to keep it for a run that will, give holdSeconds (--hold)";

function refusalOf(newest: Wait | undefined, nowMs: number): AppError {
  if (newest === undefined) return new AppError("interrupt_not_found", { problem: NOTHING_WAITED });
  const { run, interrupt } = newest;
  const late = interrupt.status === "open" && isOverdue(interrupt, nowMs);
  if (late || interrupt.status === "expired") return overdue(interrupt, true);
  return endOf(run, interrupt, false) ?? new AppError("interrupt_not_found");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
