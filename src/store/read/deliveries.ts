import type { Kysely } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { ClaimedDelivery, DeliveryClaim, DeliveryQuery, DeliveryRecord, WebhookRecord } from "../port/gates.ts";
import { CALLBACK, toDelivery } from "../rows/gate-rows.ts";
import { dialectOf } from "../schema/dialect-of.ts";
import type { Tables } from "../schema/tables.ts";
import { type DeliveriesTable, webhooks } from "../schema/webhooks.ts";
import { claimStatement } from "./claim-deliveries.ts";

export async function listDeliveries(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  query: DeliveryQuery,
): Promise<DeliveryRecord[]> {
  const { before, webhookId, runId, state, limit } = query;
  const rows = await db
    .selectFrom("deliveries")
    .selectAll()
    .where("tenant", "=", tenant)
    .$if(workspace !== undefined, (found) => found.where("workspace", "=", workspace ?? ""))
    .$if(before !== undefined, (found) => found.where("delivery_id", "<", before ?? ""))
    .$if(webhookId !== undefined, (found) => found.where("webhook_id", "=", webhookId ?? ""))
    .$if(runId !== undefined, (found) => found.where("run_id", "=", runId ?? ""))
    .$if(state !== undefined, (found) => found.where("state", "=", state ?? "pending"))
    .orderBy("delivery_id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toDelivery);
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

/** Anew, with all its attempts before it. What the last one came to stays to be seen. */
export async function redeliver(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  { deliveryId, webhookId }: { readonly deliveryId?: string; readonly webhookId?: string },
  nowMs: number,
): Promise<number> {
  if (deliveryId === undefined && webhookId === undefined) return 0;
  const { numUpdatedRows } = await db
    .updateTable("deliveries")
    .set({ state: "pending", attempts: 0, next_at: nowMs, finished_at: null })
    .where("tenant", "=", tenant)
    .where("state", "=", "dead")
    .$if(workspace !== undefined, (found) => found.where("workspace", "=", workspace ?? ""))
    .$if(deliveryId !== undefined, (found) => found.where("delivery_id", "=", deliveryId ?? ""))
    .$if(webhookId !== undefined, (found) => found.where("webhook_id", "=", webhookId ?? ""))
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
