import type { Tables } from "./tables.ts";

/** Made again from others by whoever restores a backup, or of no use to it. */
type NotCopied = "annotation_texts" | "host_probes";

export type TableName = Exclude<keyof Tables, NotCopied>;

/** Every table of a backup with the columns of its primary key, by which all of it can be read in pages. */
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
  annotations: ["tenant", "annotation_id"],
  annotation_changes: ["tenant", "seq", "n"],
  run_feedback: ["tenant", "run_id", "node_id", "actor_kind"],
  run_labels: ["tenant", "run_id", "node_id", "actor_kind", "label"],
  export_cursors: ["name", "tenant"],
  queues: ["queue_id"],
  queue_items: ["item_id"],
  queue_reviews: ["item_id", "reviewer"],
  queue_marks: ["queue_id", "reviewer"],
  run_tombstones: ["run_id"],
  tapes: ["run_id"],
  tape_sidecars: ["run_id"],
  review_sessions: ["session_id"],
  review_rounds: ["session_id", "n"],
  documents: ["tenant", "kind", "doc_key"],
  tenant_runs: ["tenant", "shard"],
  run_families: ["root_run_id"],
  idempotency: ["tenant", "operation", "idem_key"],
  audit_log: ["tenant", "seq"],
  audit_heads: ["tenant"],
  audit_checkpoints: ["tenant", "prev_seq"],
};

export const TABLE_NAMES = Object.keys(TABLE_KEYS) as TableName[];

/** A row as the database gives it: texts, numbers, bytes and nothing. */
export type Row = Readonly<Record<string, string | number | Uint8Array | null>>;
