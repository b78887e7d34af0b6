import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import type { Interrupt } from "../../../protocol/gates/interrupt.ts";
import { isObject } from "../../../protocol/own.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import { answerInterrupt } from "./answer-interrupt.ts";
import { expireInterrupt, isOverdue } from "./close-interrupt.ts";
import { endOf, overdue } from "./resolve-interrupt.ts";

export interface ExternalEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly correlationId: string;
  /** With its secrets, which the receiving nodes get and readers see masked. */
  readonly payload: unknown;
  /** The principal that sent it. */
  readonly by: string;
}

/** The events of one interrupt of a run. */
interface InterruptChange {
  readonly run: Run;
  readonly interrupt: Interrupt;
  readonly events: readonly EventDraft[];
}

export interface EventRuling {
  readonly delivered: readonly InterruptChange[];
  /** Waits that are past their deadline. They end whether or not the event is delivered. */
  readonly expired: readonly InterruptChange[];
  /** Why the event was not delivered. */
  readonly refusal?: AppError;
}

/** Throws `correlation_mismatch` where the payload contradicts the correlation of its event. */
export function requireConsistent(correlation: Readonly<Record<string, unknown>>, payload: unknown): void {
  if (!isObject(payload)) return;
  const members = Object.keys(correlation).filter(
    (name) => Object.hasOwn(payload, name) && !deepEqual(payload[name], correlation[name]),
  );
  if (members.length > 0) throw new AppError("correlation_mismatch", { members });
}

/**
 * Delivers the event to all open waits, or to none: throws where one of them does not accept it. Where there is no open wait, the newest
 * closed one determines the refusal.
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

/** Delivers a held event to the oldest open wait that accepts it. `given` is undefined where there is none. */
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
      // A payload that the schema of the wait refuses is not the event it waits for.
      if (!(error instanceof AppError)) throw error;
    }
  }
  return { waiting: waits.length };
}

interface Wait {
  readonly run: Run;
  readonly interrupt: Interrupt;
}

/** The waits for an event, of any status, oldest first. */
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
 * The node gets the members of the payload (or the payload as `payload`, if it is no object), the event's id and type, and the correlation
 * as the run has it, which replaces members of the same names.
 */
function answered({ run, interrupt }: Wait, event: ExternalEvent, at: string): EventDraft[] {
  const { payload, eventId, eventType, by } = event;
  const correlation = interrupt.data["correlation"] as Readonly<Record<string, unknown>>;
  const value = { ...(isObject(payload) ? payload : { payload }), eventId, eventType, ...correlation };
  try {
    // The payload of an event that was sent by correlation id is compared with the correlation only here.
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
