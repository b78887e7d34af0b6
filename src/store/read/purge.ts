import { type Kysely, sql } from "kysely";
import { CALLBACK } from "../rows/gate-rows.ts";
import { dialectOf } from "../schema/dialect-of.ts";
import type { Tables } from "../schema/tables.ts";

/** Rows per statement: commits of requests get their turn in between. What was answered may be some hundred thousand bytes, and is overwritten. */
const PURGE_ROWS = 100;

const DAY_MS = 86_400_000;

/** Long enough to see on Monday what was sent during a holiday week; the event itself stays in its run's log. */
const DELIVERED_KEPT_MS = 7 * DAY_MS;

/** A receiver that was away has this long to be mended and to ask for what it missed. */
const DEAD_KEPT_MS = 30 * DAY_MS;

export async function purge(db: Kysely<Tables>, nowMs: number): Promise<number> {
  // Rows that a commit is just replacing are passed over: waiting for them would delete what was put in their place.
  const free = dialectOf(db) === "postgres" ? sql`for update skip locked` : sql``;
  const some = sql`limit ${PURGE_ROWS} ${free}`;
  const expired = sql`expires_at <= ${nowMs} ${some}`;
  const deletes = [
    sql`delete from idempotency where (tenant, operation, idem_key) in
      (select tenant, operation, idem_key from idempotency where ${expired})`,
    sql`delete from effects where effect_id in (select effect_id from effects where ${expired})`,
    sql`delete from external_events where (tenant, workspace, correlation_id, event_id) in
      (select tenant, workspace, correlation_id, event_id from external_events where ${expired})`,
    sql`delete from documents where (tenant, kind, doc_key) in
      (select tenant, kind, doc_key from documents where ${expired})`,
    ...[
      sql`state = 'delivered' and finished_at <= ${nowMs - DELIVERED_KEPT_MS}`,
      sql`state = 'dead' and finished_at <= ${nowMs - DEAD_KEPT_MS}`,
      // Nobody can deliver these: the webhook is disabled, or was deleted while they were being written. Others are only
      // late, by however long no host was there to send them.
      sql`state = 'pending' and next_at <= ${nowMs - DEAD_KEPT_MS} and webhook_id <> ${CALLBACK} and not exists (
        select 1 from webhooks where webhooks.webhook_id = deliveries.webhook_id and disabled_at is null)`,
    ].map(
      (over) =>
        sql`delete from deliveries where delivery_id in (select delivery_id from deliveries where ${over} ${some})`,
    ),
  ];
  let purged = 0;
  for (const statement of deletes) {
    for (let more = true; more; ) {
      const gone = Number((await statement.execute(db)).numAffectedRows ?? 0);
      purged += gone;
      more = gone === PURGE_ROWS;
    }
  }
  return purged;
}
