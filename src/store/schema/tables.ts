import type { DocumentsTable } from "../rows/document-rows.ts";
import type {
  DeliveriesTable,
  ExternalEventsTable,
  InterruptsTable,
  InterruptVotesTable,
  WebhooksTable,
} from "./gate-tables.ts";
import type * as J from "./judgment-tables.ts";
import type * as Q from "./queue-tables.ts";
import type { ReviewRoundsTable, ReviewSessionsTable } from "./review-tables.ts";
import type { TapeSidecarsTable, TapesTable } from "./tape-tables.ts";

/**
 * The tables of both databases, as Kysely sees them. Times are milliseconds since the epoch in 64-bit columns;
 * JSON is text in both, so that what was written is read back byte for byte. Migrations are in `migrations.ts`.
 */
export interface Tables {
  runs: RunsTable;
  run_events: RunEventsTable;
  workflows: WorkflowsTable;
  workflow_heads: WorkflowHeadsTable;
  api_keys: ApiKeysTable;
  role_bindings: RoleBindingsTable;
  role_definitions: RoleDefinitionsTable;
  audit_log: AuditLogTable;
  audit_heads: AuditHeadsTable;
  audit_checkpoints: AuditCheckpointsTable;
  idempotency: IdempotencyTable;
  effects: EffectsTable;
  artifacts: ArtifactsTable;
  host_secrets: HostSecretsTable;
  interrupts: InterruptsTable;
  interrupt_votes: InterruptVotesTable;
  external_events: ExternalEventsTable;
  webhooks: WebhooksTable;
  deliveries: DeliveriesTable;
  annotations: J.AnnotationsTable;
  annotation_changes: J.AnnotationChangesTable;
  annotation_texts: J.AnnotationTextsTable;
  run_feedback: J.RunFeedbackTable;
  run_labels: J.RunLabelsTable;
  export_cursors: J.ExportCursorsTable;
  queues: Q.QueuesTable;
  queue_items: Q.QueueItemsTable;
  queue_reviews: Q.QueueReviewsTable;
  queue_marks: Q.QueueMarksTable;
  run_tombstones: Q.RunTombstonesTable;
  tapes: TapesTable;
  tape_sidecars: TapeSidecarsTable;
  review_sessions: ReviewSessionsTable;
  review_rounds: ReviewRoundsTable;
  documents: DocumentsTable;
  tenant_runs: TenantRunsTable;
  run_families: RunFamiliesTable;
  host_probes: HostProbesTable;
}

/** Derived from run_events in the append's transaction; also the work queue (wake_at, lease_*). */
export interface RunsTable {
  run_id: string; // primary key
  tenant: string;
  workspace: string | null;
  workflow_id: string;
  workflow_hash: string;
  status: string;
  version: number;
  engine_version: number;
  /** JSON of the folded Run. */
  state: string;
  created_at: number;
  updated_at: number;
  /** Set while the run has not ended and X-Dedup was enforced; unique per (tenant, workflow_id). */
  dedup_scope: string | null;
  wake_at: number | null;
  lease_owner: string | null;
  lease_until: number | null;
  /** See `run-facts.ts`. */
  agent_id: string | null;
  intervened: number;
  /** The run at the top of the family; null for a run without a parent. */
  root_run_id: string | null;
}

/**
 * Runs of a tenant that have not ended, kept in the transaction of every run write. The count is the sum over `shard`, because
 * processes that share a PostgreSQL would otherwise wait for each other at one row. Primary key (tenant, shard).
 */
export interface TenantRunsTable {
  tenant: string;
  shard: number;
  active: number;
}

/** How many runs were started below a root run, kept in the transaction that starts them. */
export interface RunFamiliesTable {
  root_run_id: string; // primary key
  tenant: string;
  descendants: number;
  /** Set when the family was cancelled: no run is started below the root any more. */
  cancelled_at: number | null;
}

/** What `ping` writes, to learn whether writing works. */
export interface HostProbesTable {
  name: string; // primary key
  at: number;
  filler: Uint8Array | null;
}

/** The log. Primary key (run_id, sequence); updates are refused by a trigger. */
export interface RunEventsTable {
  run_id: string;
  sequence: number;
  type: string;
  body: string;
  sealed: string | null;
}

/** Definitions by content hash, immutable. */
export interface WorkflowsTable {
  hash: string; // primary key
  workflow_id: string;
  definition: string;
  created_at: number;
}

/** (tenant, workflow_id) → newest hash; tenant "" is host-wide. */
export interface WorkflowHeadsTable {
  tenant: string;
  workflow_id: string;
  hash: string;
  registered_at: number;
}

export interface ApiKeysTable {
  key_id: string; // primary key
  hash: string; // unique
  tenant: string;
  workspace: string | null;
  principal: string;
  kind: string;
  /** JSON array. */
  scopes: string;
  label: string | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

/** Primary key (tenant, workspace, principal); workspace "" is tenant-wide. */
export interface RoleBindingsTable {
  tenant: string;
  workspace: string;
  principal: string;
  /** JSON array. */
  roles: string;
  /** JSON array. */
  group_names: string;
}

/** Roles a workspace defines itself. Primary key (tenant, workspace, role); workspace "" is tenant-wide. */
export interface RoleDefinitionsTable {
  tenant: string;
  workspace: string;
  role: string;
  /** JSON array. */
  scopes: string;
}

/** Primary key (tenant, seq). Updates and deletes are refused by triggers. */
export interface AuditLogTable {
  tenant: string;
  seq: number;
  occurred_at: string;
  actor: string;
  action: string;
  target: string;
  /** JSON object. */
  details: string;
  prev_hash: string | null;
}

/** One row per tenant: where its chain ends. Locked first by every commit that audits. */
export interface AuditHeadsTable {
  tenant: string; // primary key
  seq: number;
  hash: string;
}

/** Primary key (tenant, prev_seq), so that two processes cannot both continue from one checkpoint. Append-only too. */
export interface AuditCheckpointsTable {
  tenant: string;
  prev_seq: number;
  at_seq: number;
  checkpoint: string;
  merkle_root: string;
  signature: string;
  created_at: number;
}

/** Primary key (tenant, operation, idem_key). */
export interface IdempotencyTable {
  tenant: string;
  operation: string;
  idem_key: string;
  digest: string;
  state: string;
  status: number | null;
  /** JSON object. */
  headers: string | null;
  body: string | null;
  lease_owner: string | null;
  lease_until: number | null;
  expires_at: number;
}

export interface EffectsTable {
  effect_id: string; // primary key
  tenant: string;
  run_id: string;
  node_id: string;
  ordinal: number;
  provider_key: string;
  state: string;
  claimed_by: string;
  claimed_at: number;
  outcome: string | null;
  finished_at: number | null;
  expires_at: number;
}

/** Primary key (run_id, artifact_id). */
export interface ArtifactsTable {
  run_id: string;
  artifact_id: string;
  tenant: string;
  artifact_type: string;
  content_type: string;
  body: Uint8Array;
  created_at: number;
}

export interface HostSecretsTable {
  name: string; // primary key
  value: string;
}
