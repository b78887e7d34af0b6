import { type Kysely, sql } from "kysely";
import type { ExternalEventKey, ExternalEventRecord, HeldQuery } from "../port/gates.ts";
import { type ExternalEventsTable, externalEvents } from "../schema/gates.ts";
import type { Tables } from "../schema/tables.ts";

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

export async function heldEvents(db: Kysely<Tables>, query: HeldQuery): Promise<ExternalEventRecord[]> {
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
    select held.* from external_events as held where ${sql.join(conditions, sql` and `)}
    order by ${place}
    limit ${limit}`.execute(db);
  return rows.map(externalEvents.toRecord);
}

const place = sql.raw("held.received_at, held.tenant, held.workspace, held.correlation_id, held.event_id");

function placeOf({ atMs, tenant, workspace, correlationId, eventId }: ExternalEventRecord) {
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

/** Whether a new event may take the place of the one that stands. */
export function hasExpired({ expires_at }: Pick<ExternalEventsTable, "expires_at">, nowMs: number): boolean {
  return expires_at <= nowMs;
}
