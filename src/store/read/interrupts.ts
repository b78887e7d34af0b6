import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type {
  CorrelationQuery,
  ExternalEventKey,
  ExternalEventRecord,
  HeldEvent,
  HeldQuery,
  InterruptQuery,
  StoredInterrupt,
  WaitingInterrupt,
} from "../port/gates.ts";
import { toStoredInterrupt } from "../rows/interrupt-rows.ts";
import {
  type ExternalEventsTable,
  externalEvents,
  type InterruptsTable,
  type InterruptVotesTable,
} from "../schema/gates.ts";
import type { Tables } from "../schema/tables.ts";
import { inBatches, visibleTo } from "./conditions.ts";
import { lastFitting } from "./fitting.ts";

/** A literal, because SQLite does not use the partial index of the inbox for parameters. */
const isOpen = sql<boolean>`status = 'open'`;

export async function openInterrupts(
  db: Kysely<Tables>,
  visible: Visibility,
  query: InterruptQuery,
): Promise<StoredInterrupt[]> {
  const open = openAmong(db, visible, query);
  const bytes = sql<number>`octet_length(body)`.as("bytes");
  const fitting = lastFitting(await open.select(["interrupt_id", bytes]).execute());
  if (fitting === undefined) return [];
  const rows = await open.select(COLUMNS).where("interrupt_id", "<=", fitting.interrupt_id).execute();
  // All of them may have been decided in between, and more come after them.
  if (rows.length === 0) return openInterrupts(db, visible, { ...query, after: fitting.interrupt_id });
  return rows.map(toStoredInterrupt);
}

function openAmong(
  db: Kysely<Tables>,
  visible: Visibility,
  { after = "", workflowId, kind, runId, nowMs, limit }: InterruptQuery,
) {
  return interruptsSeen(db, visible)
    .where(isOpen)
    .where("interrupt_id", ">", after)
    .where((one) => one.or([one("deadline", "is", null), one("deadline", ">", nowMs)]))
    .$if(workflowId !== undefined, (found) => found.where("workflow_id", "=", workflowId ?? ""))
    .$if(kind !== undefined, (found) => found.where("kind", "=", kind ?? ""))
    .$if(runId !== undefined, (found) => found.where("run_id", "=", runId ?? ""))
    .orderBy("interrupt_id")
    .limit(limit);
}

export async function interruptsOfRuns(
  db: Kysely<Tables>,
  visible: Visibility,
  runIds: readonly string[],
): Promise<StoredInterrupt[]> {
  const rows = await inBatches([...new Set(runIds)], (ids) =>
    visibleInterrupts(db, visible).where("run_id", "in", ids).orderBy("interrupt_id").execute(),
  );
  return rows.map(toStoredInterrupt);
}

export async function readInterrupt(
  db: Kysely<Tables>,
  visible: Visibility,
  interruptId: string,
): Promise<StoredInterrupt | undefined> {
  const row = await visibleInterrupts(db, visible).where("interrupt_id", "=", interruptId).executeTakeFirst();
  return row && toStoredInterrupt(row);
}

export async function interruptsByCorrelation(
  db: Kysely<Tables>,
  visible: Visibility,
  { correlationId, eventType, open, limit }: CorrelationQuery,
): Promise<WaitingInterrupt[]> {
  const rows = await interruptsSeen(db, visible)
    .select(["interrupt_id", "run_id"])
    .where("correlation_id", "=", correlationId)
    .where("event_type", "=", eventType)
    .$if(open, (found) => found.where(isOpen))
    .orderBy("interrupt_id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ interrupt_id, run_id }) => ({ interruptId: interrupt_id, runId: run_id }));
}

export async function interruptRows(
  db: Kysely<Tables>,
  runId: string,
): Promise<{ interrupts: InterruptsTable[]; votes: InterruptVotesTable[] }> {
  const ofRun = db.selectFrom("interrupts").where("run_id", "=", runId);
  const interrupts = await ofRun.selectAll().orderBy("interrupt_id").execute();
  const votes = await db
    .selectFrom("interrupt_votes")
    .selectAll()
    .where("interrupt_id", "in", ofRun.select("interrupt_id"))
    .orderBy("interrupt_id")
    .orderBy("voter")
    .execute();
  return { interrupts, votes };
}

const COLUMNS = [
  "interrupt_id",
  "tenant",
  "workspace",
  "run_id",
  "workflow_id",
  "started_by",
  "status",
  "body",
] as const;

function visibleInterrupts(db: Kysely<Tables>, visible: Visibility) {
  return interruptsSeen(db, visible).select(COLUMNS);
}

function interruptsSeen(db: Kysely<Tables>, visible: Visibility) {
  return db.selectFrom("interrupts").where(visibleTo(visible));
}

export async function readExternalEvent(
  db: Kysely<Tables>,
  { tenant, workspace, correlationId, eventId }: ExternalEventKey,
): Promise<ExternalEventRecord | undefined> {
  const row = await db
    .selectFrom("external_events")
    .selectAll()
    .where("tenant", "=", tenant)
    .where("workspace", "=", workspace)
    .where("correlation_id", "=", correlationId)
    .where("event_id", "=", eventId)
    .executeTakeFirst();
  return row && externalEvents.toRecord(row);
}

export async function heldEvents(db: Kysely<Tables>, query: HeldQuery): Promise<HeldEvent[]> {
  const { tenant, correlationId, eventType, nowMs, limit, after } = query;
  const conditions = [
    // Plus nothing, because SQLite would otherwise read by expiry all that were delivered as well.
    sql`held.state = 'held' and held.expires_at + 0 > ${nowMs}`,
    ...(tenant === undefined ? [awaited(nowMs)] : [sql`held.tenant = ${tenant}`]),
    ...(correlationId === undefined ? [] : [sql`held.correlation_id = ${correlationId}`]),
    ...(eventType === undefined ? [] : [sql`held.event_type = ${eventType}`]),
    ...(after === undefined ? [] : [sql`(${place}) > (${sql.join(placeOf(after))})`]),
  ];
  const { rows } = await sql<ExternalEventsTable>`
    select ${place}, held.event_type, held.state, held.expires_at from external_events as held where ${sql.join(conditions, sql` and `)}
    order by ${place}
    limit ${limit}`.execute(db);
  return rows.map((row) => {
    const { payload: _, answer: __, ...held } = externalEvents.toRecord({ ...row, payload: "", answer: "" });
    return held;
  });
}

export async function countHeldEvents(db: Kysely<Tables>, tenant: string, most: number): Promise<number> {
  const { rows } = await sql<{ readonly n: number | string }>`
    select count(*) as n from (
      select 1 from external_events where tenant = ${tenant} and state = 'held' limit ${most}
    ) as held`.execute(db);
  return Number(rows[0]?.n ?? 0);
}

const place = sql.raw("held.received_at, held.tenant, held.workspace, held.correlation_id, held.event_id");

function placeOf({ atMs, tenant, workspace, correlationId, eventId }: HeldEvent) {
  return [atMs, tenant, workspace, correlationId, eventId];
}

/** A sender bound to no workspace reaches all of its tenant. */
function awaited(nowMs: number) {
  return sql`exists (
    select 1 from interrupts as waiting
    where waiting.tenant = held.tenant and waiting.correlation_id = held.correlation_id and waiting.status = 'open'
      and (waiting.deadline is null or waiting.deadline > ${nowMs})
      and waiting.event_type = held.event_type
      and (held.workspace = '' or held.workspace = waiting.workspace))`;
}
