import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { ClaimedDelivery, DeliveryClaim, DeliveryQuery, DeliveryRecord, WebhookRecord } from "../port/gates.ts";
import type { Unit } from "../port/store.ts";
import { CALLBACK, toDelivery } from "../rows/interrupt-rows.ts";
import { WEBHOOK_DISABLED } from "../rows/rows.ts";
import { type DialectName, dialectOf } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import { type DeliveriesTable, webhooks } from "../schema/webhooks.ts";
import { visibleTo } from "./conditions.ts";

interface Handles {
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
}

/** Rows of one statement: a webhook may have hundreds of thousands of deliveries, and others have their turn in between. */
const ROWS_AT_ONCE = 500;

export async function listWebhooks(db: Kysely<Tables>, visible: Visibility): Promise<WebhookRecord[]> {
  const rows = await visibleWebhooks(db, visible).orderBy("webhook_id").execute();
  return rows.map(webhooks.toRecord);
}

export async function readWebhook(
  db: Kysely<Tables>,
  visible: Visibility,
  webhookId: string,
): Promise<WebhookRecord | undefined> {
  const row = await visibleWebhooks(db, visible).where("webhook_id", "=", webhookId).executeTakeFirst();
  return row && webhooks.toRecord(row);
}

function visibleWebhooks(db: Kysely<Tables>, visible: Visibility) {
  return db.selectFrom("webhooks").selectAll().where(visibleTo(visible));
}

export async function listDeliveries(
  db: Kysely<Tables>,
  visible: Visibility,
  query: DeliveryQuery,
): Promise<DeliveryRecord[]> {
  const { state, limit } = query;
  const found: DeliveryRecord[] = [];
  for await (const page of pagesOf(db, visible, query, state === undefined ? limit : ROWS_AT_ONCE)) {
    for (const row of page) if (state === undefined || row.state === state) found.push(toDelivery(row));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Newest first. */
async function* pagesOf(
  db: Kysely<Tables>,
  visible: Visibility,
  { before, webhookId, runId }: Omit<DeliveryQuery, "limit">,
  rowsAtOnce = ROWS_AT_ONCE,
): AsyncGenerator<readonly DeliveriesTable[]> {
  for (let below = before; ; ) {
    const page = await db
      .selectFrom("deliveries")
      .selectAll()
      .where(visibleTo(visible))
      .$if(below !== undefined, (found) => found.where("delivery_id", "<", below ?? ""))
      .$if(webhookId !== undefined, (found) => found.where("webhook_id", "=", webhookId ?? ""))
      .$if(runId !== undefined, (found) => found.where("run_id", "=", runId ?? ""))
      .orderBy("delivery_id", "desc")
      .limit(rowsAtOnce)
      .execute();
    yield page;
    below = page.at(-1)?.delivery_id;
    if (page.length < rowsAtOnce) return;
  }
}

/**
 * One statement claims, so two claimers never share. What the webhooks are now is read afterwards; a delivery whose
 * webhook was deleted in between has gone with it.
 */
export async function claimDeliveries(
  write: Kysely<Tables>,
  read: Kysely<Tables>,
  claim: DeliveryClaim,
): Promise<ClaimedDelivery[]> {
  const { rows } = await claimStatement(dialectOf(write), claim).execute(write);
  const webhooks = await webhooksOf(read, rows);
  return rows.toSorted(byDueTime).flatMap((row) => {
    const webhook = webhooks.get(row.webhook_id);
    if (row.webhook_id === CALLBACK) return [toDelivery(row)];
    return webhook === undefined ? [] : [{ ...toDelivery(row), webhook }];
  });
}

async function webhooksOf(db: Kysely<Tables>, rows: readonly DeliveriesTable[]) {
  const ids = [...new Set(rows.map((row) => row.webhook_id))].filter((id) => id !== CALLBACK);
  if (ids.length === 0) return new Map<string, WebhookRecord>();
  const found = await db.selectFrom("webhooks").selectAll().where("webhook_id", "in", ids).execute();
  return new Map(found.map((row) => [row.webhook_id, webhooks.toRecord(row)]));
}

function byDueTime(a: DeliveriesTable, b: DeliveriesTable): number {
  return (a.next_at ?? 0) - (b.next_at ?? 0) || (a.delivery_id < b.delivery_id ? -1 : 1);
}

/** Makes deliveries pending with all their attempts again. The result of the last attempt stays visible. */
export async function redeliver(
  { read, write }: Handles,
  visible: Visibility,
  { deliveryId, webhookId }: { readonly deliveryId?: string; readonly webhookId?: string },
  nowMs: number,
): Promise<number> {
  if (deliveryId === undefined && webhookId === undefined) return 0;
  const revive = async (ids: readonly string[]): Promise<number> => {
    const { numUpdatedRows } = await write
      .updateTable("deliveries")
      .set({ state: "pending", attempts: 0, next_at: nowMs, finished_at: null })
      .where(visibleTo(visible))
      .where("state", "=", "dead")
      .$if(webhookId !== undefined, (found) => found.where("webhook_id", "=", webhookId ?? ""))
      .where("delivery_id", "in", ids)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  };
  if (deliveryId !== undefined) return revive([deliveryId]);
  let revived = 0;
  for await (const page of pagesOf(read, visible, { webhookId: webhookId ?? "" })) {
    const dead = page.filter(({ state }) => state === "dead").map(({ delivery_id }) => delivery_id);
    if (dead.length > 0) revived += await revive(dead);
  }
  return revived;
}

/** Deletes undelivered deliveries before their webhook is deleted; those that are added meanwhile go with the webhook. */
export async function forgetUndelivered({ read, write }: Handles, { tenant, webhooks = [] }: Unit): Promise<void> {
  for (const change of webhooks) {
    if (change.type !== "delete") continue;
    const { webhookId } = change;
    for await (const page of pagesOf(read, { tenant }, { webhookId })) {
      const ids = page.filter(({ state }) => state !== "delivered").map(({ delivery_id }) => delivery_id);
      if (ids.length > 0) await write.deleteFrom("deliveries").where("delivery_id", "in", ids).execute();
    }
  }
}

/** Marks the unleased deliveries of a disabled webhook as dead. */
export async function buryDeliveries(write: Kysely<Tables>, webhookId: string, atMs: number): Promise<void> {
  for (let more = true; more; ) {
    const { numUpdatedRows } = await write
      .updateTable("deliveries")
      .set({ state: "dead", next_at: null, finished_at: atMs, last_error: WEBHOOK_DISABLED })
      .where("delivery_id", "in", (waiting) =>
        waiting
          .selectFrom("deliveries")
          .select("delivery_id")
          .where("webhook_id", "=", webhookId)
          .where("state", "=", "pending")
          .where("lease_owner", "is", null)
          .limit(ROWS_AT_ONCE),
      )
      .executeTakeFirstOrThrow();
    more = Number(numUpdatedRows) === ROWS_AT_ONCE;
  }
}

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

/** Each of them with its first delivery without a lease. A deleted or disabled webhook does not count. */
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
function claimStatement(dialect: DialectName, claim: DeliveryClaim): RawBuilder<DeliveriesTable> {
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

/** The earliest time at which a delivery is free, or its webhook's circuit closes, or its lease ends. */
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
