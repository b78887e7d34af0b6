import type { Tables } from "./tables.ts";

export type TableName = keyof Tables;

/** Every table with the columns of its primary key, by which all of it can be read in pages. */
export const TABLE_KEYS: Readonly<Record<TableName, readonly string[]>> = {
  host_secrets: ["name"],
  api_keys: ["key_id"],
  role_bindings: ["tenant", "workspace", "principal"],
  role_definitions: ["tenant", "workspace", "role"],
  workflows: ["hash"],
  workflow_heads: ["tenant", "workflow_id"],
  runs: ["run_id"],
  run_events: ["run_id", "sequence"],
  artifacts: ["run_id", "artifact_id"],
  interrupts: ["interrupt_id"],
  interrupt_votes: ["interrupt_id", "voter"],
  external_events: ["tenant", "workspace", "correlation_id", "event_id"],
  webhooks: ["webhook_id"],
  deliveries: ["delivery_id"],
  effects: ["effect_id"],
  idempotency: ["tenant", "operation", "idem_key"],
  audit_log: ["tenant", "seq"],
  audit_heads: ["tenant"],
  audit_checkpoints: ["tenant", "prev_seq"],
};

export const TABLE_NAMES = Object.keys(TABLE_KEYS) as TableName[];

/** A row as the database gives it: texts, numbers, bytes and nothing. */
export type Row = Readonly<Record<string, string | number | Uint8Array | null>>;
