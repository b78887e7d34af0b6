import type { Kysely } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { ClaimedDelivery, DeliveryClaim, DeliveryQuery, DeliveryRecord } from "../port/gates.ts";
import type { Unit } from "../port/store.ts";
import { WEBHOOK_DISABLED } from "../rows/attempt-rows.ts";
import { CALLBACK, toDelivery, toWebhook } from "../rows/gate-rows.ts";
import { dialectOf } from "../schema/dialect-of.ts";
import type { DeliveriesTable } from "../schema/gate-tables.ts";
import type { Tables } from "../schema/tables.ts";
import { claimStatement } from "./claim-deliveries.ts";

interface Handles {
  readonly read: Kysely<Tables>;
  readonly write: Kysely<Tables>;
}

/** Rows of one statement: a webhook may have hundreds of thousands of deliveries, and others have their turn in between. */
const ROWS_AT_ONCE = 500;

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
  { tenant, workspace }: Visibility,
  { before, webhookId, runId }: Omit<DeliveryQuery, "limit">,
  rowsAtOnce = ROWS_AT_ONCE,
): AsyncGenerator<readonly DeliveriesTable[]> {
  for (let below = before; ; ) {
    const page = await db
      .selectFrom("deliveries")
      .selectAll()
      .where("tenant", "=", tenant)
      .$if(workspace !== undefined, (found) => found.where("workspace", "=", workspace ?? ""))
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
  if (ids.length === 0) return new Map<string, ReturnType<typeof toWebhook>>();
  const found = await db.selectFrom("webhooks").selectAll().where("webhook_id", "in", ids).execute();
  return new Map(found.map((row) => [row.webhook_id, toWebhook(row)]));
}

function byDueTime(a: DeliveriesTable, b: DeliveriesTable): number {
  return (a.next_at ?? 0) - (b.next_at ?? 0) || (a.delivery_id < b.delivery_id ? -1 : 1);
}

/** Anew, with all its attempts before it. What the last one came to stays to be seen. */
export async function redeliver(
  { read, write }: Handles,
  visible: Visibility,
  { deliveryId, webhookId }: { readonly deliveryId?: string; readonly webhookId?: string },
  nowMs: number,
): Promise<number> {
  if (deliveryId === undefined && webhookId === undefined) return 0;
  const { tenant, workspace } = visible;
  const revive = async (ids: readonly string[]): Promise<number> => {
    const { numUpdatedRows } = await write
      .updateTable("deliveries")
      .set({ state: "pending", attempts: 0, next_at: nowMs, finished_at: null })
      .where("tenant", "=", tenant)
      .where("state", "=", "dead")
      .$if(workspace !== undefined, (found) => found.where("workspace", "=", workspace ?? ""))
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

/** Before their webhook is deleted; what comes while it goes on is removed with the webhook. */
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

/** What waits for a webhook that was disabled, and that nobody holds, is dead. */
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
