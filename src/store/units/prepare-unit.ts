import { setImmediate as nextTurn } from "node:timers/promises";
import { eventDoc, type RunEvent } from "../../protocol/events.ts";
import type { Change, IdempotencyOutcome, RunWrite, Unit } from "../port/store.ts";
import { changedRows, type InterruptChanges } from "../rows/interrupt-rows.ts";
import { runRow } from "../rows/run-rows.ts";
import type { IdempotencyTable } from "../schema/host.ts";
import type { RunEventsTable, RunsTable } from "../schema/runs.ts";
import { type AnnotationStep, stepsOf } from "./annotation-steps.ts";
import { checksOf, type UnitChecks } from "./unit-checks.ts";

/** A unit with the rows of its runs written out, as far as they do not depend on what is in the database. */
export interface PreparedUnit {
  readonly unit: Unit;
  readonly checks: UnitChecks;
  readonly runs: readonly PreparedRun[];
  readonly idempotency?: IdempotencyTable;
  readonly annotations: readonly AnnotationStep[];
}

export interface PreparedRun {
  readonly write: RunWrite;
  /** With the lease and dedup scope of a new run. */
  readonly row: RunsTable;
  readonly events: readonly RunEventsTable[];
  readonly interrupts: InterruptChanges;
}

/**
 * Derives the rows of a unit. Done before the unit joins a batch: what cannot be written out fails its caller alone. Throws when the unit
 * contradicts itself, which is a mistake of the caller.
 */
export function prepareUnit(unit: Unit, texts?: EventTexts): PreparedUnit {
  const { tenant, preconditions = [], documents = [], audit = [], idempotency } = unit;
  // Nothing else keeps judgments, and documents that are not there yet, from being written at the same time.
  const restsOnOthers = preconditions.length > 0 || documents.some(({ type }) => type === "stands");
  if (restsOnOthers && audit.length === 0) throw new Error("a unit with preconditions needs audit entries");
  const runs = (unit.runs ?? []).map((write) => {
    requireSequence(write);
    return { write, row: runRow(tenant, write), events: eventRows(write, texts), interrupts: changedRows(write) };
  });
  const annotations = stepsOf(unit);
  return {
    unit,
    checks: checksOf(unit, runs, annotations),
    runs,
    ...(idempotency === undefined ? {} : { idempotency: outcomeRow(idempotency) }),
    annotations,
  };
}

function requireSequence({ runId, expectedVersion, events, run }: RunWrite): void {
  const gap = events.findIndex((event, index) => event.runId !== runId || event.sequence !== expectedVersion + index);
  if (gap >= 0) throw new Error(`event ${gap} of a write to ${runId} does not follow version ${expectedVersion}`);
  if (run.runId !== runId || run.version !== expectedVersion + events.length) {
    throw new Error(`the run written to ${runId} is not the fold of its events`);
  }
}

function eventRows({ runId, events }: RunWrite, texts: EventTexts | undefined): RunEventsTable[] {
  return events.map((event) => {
    const { body, sealed } = texts?.get(event) ?? eventText(event);
    return { run_id: runId, sequence: event.sequence, type: event.type, body, sealed };
  });
}

/** Final: the key is held no longer. Written out: nearly every unit of a request has one. */
function outcomeRow(outcome: IdempotencyOutcome): IdempotencyTable {
  const { tenant, operation, key, digest, state, response, expiresAtMs } = outcome;
  const { status, headers, body } = response;
  const lease = { lease_owner: null, lease_until: null, expires_at: expiresAtMs };
  return { tenant, operation, idem_key: key, digest, state, status, headers: JSON.stringify(headers), body, ...lease };
}

/** Changes of a unit that listeners follow, except runs and work. */
export type Topics = Omit<Change, "runIds" | "work">;

export function topicsOf(unit: Unit): Topics {
  const { roles, roleDefinitions, keys, webhooks, deliveries, annotations, queues, deletions } = unit;
  const some = (writes: readonly unknown[] | undefined) => (writes?.length ?? 0) > 0;
  return {
    keys: some(roles) || some(roleDefinitions) || some(keys?.filter((write) => write.type !== "used")),
    webhooks: some(webhooks),
    deliveries: some(deliveries),
    annotations: some(annotations),
    queues: some(queues) || some(deletions),
  };
}

/** Undefined when nothing changed that a listener follows. */
export function changeOf(runIds: ReadonlySet<string>, work: boolean, topics: readonly Topics[]): Change | undefined {
  const has = (topic: keyof Topics) => topics.some((of) => of[topic]);
  const [keys, webhooks, deliveries] = [has("keys"), has("webhooks"), has("deliveries")];
  const [annotations, queues] = [has("annotations"), has("queues")];
  const any = work || keys || webhooks || deliveries || annotations || queues || runIds.size > 0;
  return any ? { runIds: [...runIds], work, keys, webhooks, deliveries, annotations, queues } : undefined;
}

/** An event as it is stored: what is served, and what is sealed. */
export interface EventText {
  readonly body: string;
  readonly sealed: string | null;
}

export type EventTexts = ReadonlyMap<RunEvent, EventText>;

/** Fewer are written out in no time. */
const MANY_EVENTS = 256;
/** How long events are written out before other work has its turn. */
const AT_ONCE_MS = 5;

export function eventText(event: RunEvent): EventText {
  return {
    body: JSON.stringify(eventDoc(event)),
    sealed: event.sealed === undefined ? null : JSON.stringify(event.sealed),
  };
}

export function isLongUnit({ runs = [], large = false }: Unit): boolean {
  return large || runs.some(({ events }) => events.length > MANY_EVENTS);
}

/** The texts of all events of a unit, written out a few at a time: a tape of many records must not hold up other requests. */
export async function writeEvents({ runs = [] }: Unit): Promise<EventTexts> {
  const texts = new Map<RunEvent, EventText>();
  let untilMs = performance.now() + AT_ONCE_MS;
  for (const event of runs.flatMap(({ events }) => events)) {
    texts.set(event, eventText(event));
    if (performance.now() < untilMs) continue;
    await nextTurn();
    untilMs = performance.now() + AT_ONCE_MS;
  }
  // Only the run itself is left to be serialized.
  await nextTurn();
  return texts;
}
