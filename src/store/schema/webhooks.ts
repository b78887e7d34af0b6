import type { DeliveryState } from "../port/gates.ts";
import { int, json, type Row, table, text, time } from "./table.ts";

export const webhooks = table(
  "webhooks",
  {
    webhook_id: text(),
    tenant: text(),
    workspace: text().orNull,
    url: text(),
    events: json<readonly string[]>(),
    tags: json<readonly string[]>(),
    secret: text(),
    created_by: text(),
    created_at: time(),
    failures: int(),
    failing_since: time().orNull,
    circuit_until: time().orNull,
    disabled_at: time().orNull,
  },
  { key: ["webhook_id"] },
);
export type WebhooksTable = Row<typeof webhooks>;

/** The outbox. Unique (webhook_id, run_id, sequence). A lease exists only while the delivery is pending. */
export const deliveries = table(
  "deliveries",
  {
    delivery_id: text(),
    tenant: text(),
    workspace: text().orNull,
    /** "" for the callback of a run, so that these are unique as well. */
    webhook_id: text().hidden,
    url: text().orNull,
    run_id: text(),
    sequence: int(),
    event_type: text(),
    interrupt_id: text().orNull,
    created_at: time().as("atMs"),
    state: text<DeliveryState>(),
    attempts: int(),
    next_at: time().orNull,
    last_status: int().orNull,
    last_error: text().orNull,
    finished_at: time().orNull,
    lease_owner: text().orNull.hidden,
    lease_until: time().orNull.hidden,
  },
  { key: ["delivery_id"] },
);
export type DeliveriesTable = Row<typeof deliveries>;
