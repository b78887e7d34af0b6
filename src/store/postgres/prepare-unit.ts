import { wakeAtMs } from "../../protocol/runs/due-times.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { ReviewWrite } from "../port/reviews.ts";
import type { IdempotencyOutcome, RunWrite, Unit } from "../port/store.ts";
import { type AnnotationStep, stepsOf } from "../rows/annotation-steps.ts";
import { type EventTexts, eventText } from "../rows/event-texts.ts";
import { requireChain } from "../rows/grounds.ts";
import { changedRows, type InterruptChanges } from "../rows/interrupt-rows.ts";
import { lastChangeMs } from "../rows/last-change.ts";
import { runFacts } from "../rows/run-facts.ts";
import type { IdempotencyTable, RunEventsTable, RunsTable } from "../schema/tables.ts";
import { itemsOf } from "./standing-queues.ts";

/** A unit with its rows written out, as far as they do not depend on what stands in the database. */
export interface PreparedUnit {
  readonly unit: Unit;
  readonly runs: readonly PreparedRun[];
  readonly idempotency?: IdempotencyTable;
  readonly annotations: readonly AnnotationStep[];
  /** Roughly, in characters or bytes, of all that can be large. */
  readonly size: number;
}

export interface PreparedRun {
  readonly write: RunWrite;
  readonly columns: RunColumns;
  readonly events: readonly RunEventsTable[];
  readonly interrupts: InterruptChanges;
}

export type RunColumns = Omit<RunsTable, "dedup_scope" | "lease_owner" | "lease_until">;

/**
 * Derives the rows of a unit. Done before the unit joins a batch: what cannot be written out fails its caller alone.
 * Throws when the unit contradicts itself, which is a mistake of the caller.
 */
export function prepareUnit(unit: Unit, texts?: EventTexts): PreparedUnit {
  requireChain(unit);
  const runs = (unit.runs ?? []).map((write) => {
    requireSequence(write);
    const columns = columnsOf(unit.tenant, write.run);
    return { write, columns, events: eventRows(write, texts), interrupts: changedRows(write) };
  });
  const { idempotency } = unit;
  const annotations = stepsOf(unit);
  return {
    unit,
    runs,
    ...(idempotency === undefined ? {} : { idempotency: idempotencyRow(idempotency) }),
    annotations,
    // A unit that deletes, or rests on something, is a batch of its own: all of that is in the database then, and nothing in memory.
    size: standsAlone(unit) ? Number.POSITIVE_INFINITY : sizeOf(unit, runs, annotations),
  };
}

function standsAlone({ deletions = [], grounds = [], reviews = [], documents = [] }: Unit): boolean {
  return deletions.length + grounds.length > 0 || [...reviews, ...documents].some(({ type }) => type === "delete");
}

function sizeOf(
  {
    idempotency,
    artifacts = [],
    workflows = [],
    externalEvents = [],
    queues = [],
    tapes = [],
    reviews = [],
    documents = [],
  }: Unit,
  runs: readonly PreparedRun[],
  annotations: readonly AnnotationStep[],
): number {
  let size = idempotency?.response.body.length ?? 0;
  for (const { columns, events, interrupts } of runs) {
    size += columns.state.length;
    for (const { body } of interrupts.interrupts) size += body.length;
    for (const { body, sealed } of events) size += body.length + (sealed?.length ?? 0);
  }
  for (const { body } of artifacts) size += body.length;
  for (const { note = "", tapeRow = "", signal } of annotations.map(({ after }) => after)) {
    size += note.length + tapeRow.length + (signal.correction?.length ?? 0);
  }
  for (const { definition } of workflows) size += definition.length;
  for (const write of externalEvents) if (write.type === "put") size += write.event.payload.length;
  for (const { body } of queues.flatMap(itemsOf)) size += body.length;
  for (const write of tapes) size += write.type === "sidecar" ? write.sidecar.text.length : write.tape.header.length;
  for (const write of reviews) if (write.type === "round") size += write.session.memory.length + roundsSize(write);
  for (const write of documents) if (write.type !== "delete") size += write.document.body.length;
  return size;
}

function roundsSize({ rounds }: Extract<ReviewWrite, { type: "round" }>): number {
  return rounds.reduce((size, { body }) => size + body.length, 0);
}

function requireSequence({ runId, expectedVersion, events, run }: RunWrite): void {
  const odd = events.findIndex((event, index) => event.runId !== runId || event.sequence !== expectedVersion + index);
  if (odd >= 0) throw new Error(`event ${odd} of a write to ${runId} does not follow version ${expectedVersion}`);
  if (run.runId !== runId || run.version !== expectedVersion + events.length) {
    throw new Error(`the run written to ${runId} is not the fold of its events`);
  }
}

function columnsOf(tenant: string, run: Run): RunColumns {
  return {
    run_id: run.runId,
    tenant,
    workspace: run.owner.workspace ?? null,
    workflow_id: run.workflowId,
    workflow_hash: run.workflowHash,
    status: run.status,
    version: run.version,
    engine_version: run.engineVersion,
    state: JSON.stringify(run),
    created_at: Date.parse(run.startedAt),
    updated_at: lastChangeMs(run),
    wake_at: wakeAtMs(run) ?? null,
    ...runFacts(run),
    root_run_id: run.parent?.rootRunId ?? null,
  };
}

function eventRows({ runId, events }: RunWrite, texts: EventTexts | undefined): RunEventsTable[] {
  return events.map((event) => ({
    run_id: runId,
    sequence: event.sequence,
    type: event.type,
    ...(texts?.get(event) ?? eventText(event)),
  }));
}

/** Final: nobody holds the key any more. */
function idempotencyRow(outcome: IdempotencyOutcome): IdempotencyTable {
  const { tenant, operation, key, digest, state, response, expiresAtMs } = outcome;
  return {
    tenant,
    operation,
    idem_key: key,
    digest,
    state,
    status: response.status,
    headers: JSON.stringify(response.headers),
    body: response.body,
    lease_owner: null,
    lease_until: null,
    expires_at: expiresAtMs,
  };
}

export function hasEnded({ write }: PreparedRun): boolean {
  return isTerminal(write.run.status);
}
