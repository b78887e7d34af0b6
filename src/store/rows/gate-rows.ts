import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import type { DeliveryRecord, DeliveryWrite, StoredInterrupt } from "../port/gates.ts";
import type { InterruptsTable } from "../schema/gates.ts";
import { type DeliveriesTable, deliveries } from "../schema/webhooks.ts";
import { startersIn } from "./starters.ts";

/** Rows of gates and deliveries where more is to be done than the description of the table says. */

export type InterruptColumns = Pick<
  InterruptsTable,
  "interrupt_id" | "tenant" | "workspace" | "run_id" | "workflow_id" | "started_by" | "status" | "body"
>;

export function toStoredInterrupt(row: InterruptColumns): StoredInterrupt {
  return {
    interruptId: row.interrupt_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    runId: row.run_id,
    workflowId: row.workflow_id,
    starters: startersIn(row.started_by),
    status: row.status,
    interrupt: JSON.parse(row.body) as Interrupt,
  };
}

/** The webhook of a delivery that has none: the callback of a run. */
export const CALLBACK = "";

export function toDelivery(row: DeliveriesTable): DeliveryRecord {
  const delivery = deliveries.toRecord(row);
  return row.webhook_id === CALLBACK ? delivery : { ...delivery, webhookId: row.webhook_id };
}

/** Due at once, in the order in which things happened. */
export function deliveryRow(tenant: string, delivery: DeliveryWrite): DeliveriesTable {
  const due = { tenant, state: "pending", attempts: 0, nextAtMs: delivery.atMs } as const;
  return { ...deliveries.toRow({ ...delivery, ...due }), webhook_id: delivery.webhookId ?? CALLBACK };
}
