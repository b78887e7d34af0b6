import { type Kysely, type RawBuilder, sql } from "kysely";
import type { DeliveryClaim } from "../port/gates.ts";
import { CALLBACK } from "../rows/gate-rows.ts";
import type { DialectName } from "../schema/dialect-of.ts";
import type { Tables } from "../schema/tables.ts";
import type { DeliveriesTable } from "../schema/webhooks.ts";

/**
 * Webhooks for which deliveries wait, callbacks as one of them. Jumps from one to the next in the index of pending
 * deliveries: what it costs depends on how many webhooks wait, not on how much waits for them. A receiver that is away
 * for hours must not make every claim of the others slower.
 */
const WAITING = sql`waiting (webhook_id) as (
    select min(webhook_id) from deliveries where state = 'pending'
    union all
    select (select min(webhook_id) from deliveries where state = 'pending' and webhook_id > waiting.webhook_id)
    from waiting where webhook_id is not null
  )`;

/** Each of them with its first delivery that nobody holds. One that was deleted or is disabled does not count. */
function first(nowMs: number): RawBuilder<unknown> {
  return sql`first as materialized (
    select waiting.webhook_id, hook.circuit_until, (
      select next_at from deliveries
      where state = 'pending' and deliveries.webhook_id = waiting.webhook_id and ${isFree(nowMs)}
      order by next_at limit 1
    ) as next_at
    from waiting left join webhooks as hook on hook.webhook_id = waiting.webhook_id
    where waiting.webhook_id = ${sql.lit(CALLBACK)} or (hook.webhook_id is not null and hook.disabled_at is null)
  )`;
}

function isFree(nowMs: number): RawBuilder<boolean> {
  return sql`(deliveries.lease_until is null or deliveries.lease_until <= ${nowMs})`;
}

/** The oldest of all are among the oldest of those webhooks whose first are oldest. */
export function claimStatement(dialect: DialectName, claim: DeliveryClaim): RawBuilder<DeliveriesTable> {
  const { owner, nowMs, untilMs, limit, except = [] } = claim;
  const wanted = except.length === 0 ? sql`` : sql`and webhook_id not in (${sql.join(except)})`;
  const oldest = sql`select delivery_id, next_at from deliveries
    where state = 'pending' and deliveries.webhook_id = open.webhook_id and next_at <= ${nowMs} and ${isFree(nowMs)}
    order by next_at, delivery_id limit ${limit}`;
  const ofEach =
    dialect === "postgres"
      ? sql`cross join lateral (${oldest} for update skip locked) as due`
      : // SQLite has no lateral joins, and PostgreSQL would read all of `due` for each.
        sql`join deliveries as due on due.delivery_id in (select delivery_id from (${oldest}))`;
  return sql`
    with recursive ${WAITING}, ${first(nowMs)},
    open as materialized (
      select webhook_id from first where next_at <= ${nowMs} and (circuit_until is null or circuit_until <= ${nowMs})
        ${wanted}
      order by next_at limit ${limit}
    ),
    claimed as materialized (
      select due.delivery_id from open ${ofEach} order by due.next_at, due.delivery_id limit ${limit}
    )
    update deliveries set lease_owner = ${owner}, lease_until = ${untilMs}
    where delivery_id in (select delivery_id from claimed) returning *`;
}

/** The least of what is free or waits for its webhook, and of what somebody may let go of. */
export async function nextDeliveryAtMs(db: Kysely<Tables>, nowMs: number): Promise<number | undefined> {
  const { rows } = await sql<{ readonly at: number | null }>`
    with recursive ${WAITING}, ${first(nowMs)}
    select min(at) as at from (
      select case when circuit_until > ${nowMs} and circuit_until > next_at then circuit_until else next_at end as at
      from first where next_at is not null
      union all
      select min(lease_until) from deliveries where lease_owner is not null and lease_until > ${nowMs}
    ) as each`.execute(db);
  return rows[0]?.at ?? undefined;
}
