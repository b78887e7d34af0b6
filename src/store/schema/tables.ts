import * as audit from "./audit.ts";
import { documents } from "./documents.ts";
import * as gates from "./gates.ts";
import * as host from "./host.ts";
import * as identity from "./identity.ts";
import * as judgments from "./judgments.ts";
import * as queues from "./queues.ts";
import * as reviews from "./reviews.ts";
import * as runs from "./runs.ts";
import type { Row } from "./table.ts";
import * as tapes from "./tapes.ts";
import * as webhooks from "./webhooks.ts";
import * as workflows from "./workflows.ts";

/**
 * The tables of both databases. Times are milliseconds since the epoch in 64-bit columns; JSON is text in both, so that what was
 * written is read back byte for byte. Migrations are in `migrations.ts`.
 */
export const TABLES = {
  host_secrets: host.hostSecrets,
  api_keys: identity.apiKeys,
  role_bindings: identity.roleBindings,
  role_definitions: identity.roleDefinitions,
  workflows: workflows.workflows,
  workflow_heads: workflows.workflowHeads,
  runs: runs.runs,
  run_events: runs.runEvents,
  artifacts: runs.artifacts,
  interrupts: gates.interrupts,
  interrupt_votes: gates.interruptVotes,
  external_events: gates.externalEvents,
  webhooks: webhooks.webhooks,
  deliveries: webhooks.deliveries,
  effects: runs.effects,
  annotations: judgments.annotations,
  annotation_changes: judgments.annotationChanges,
  annotation_texts: judgments.annotationTexts,
  run_feedback: judgments.runFeedback,
  run_labels: judgments.runLabels,
  export_cursors: judgments.exportCursors,
  queues: queues.queues,
  queue_items: queues.queueItems,
  queue_reviews: queues.queueReviews,
  queue_marks: queues.queueMarks,
  run_tombstones: runs.runTombstones,
  tapes: tapes.tapes,
  tape_sidecars: tapes.tapeSidecars,
  review_sessions: reviews.reviewSessions,
  review_rounds: reviews.reviewRounds,
  documents,
  tenant_runs: runs.tenantRuns,
  run_families: runs.runFamilies,
  host_probes: host.hostProbes,
  idempotency: host.idempotency,
  audit_log: audit.auditLog,
  audit_heads: audit.auditHeads,
  audit_checkpoints: audit.auditCheckpoints,
} as const;

type TablesByName = typeof TABLES;

type RowsByName = { [N in keyof TablesByName]: Row<TablesByName[N]> };

/** The same as Kysely sees them. */
export interface Tables extends RowsByName {}

/** Made again from others after a restore, or of no use to it. */
const NOT_COPIED = ["annotation_texts", "host_probes"] as const;

export type CopiedTable = Exclude<keyof Tables, (typeof NOT_COPIED)[number]>;

/** Every table of a backup. */
export const COPIED_TABLES = Object.keys(TABLES).filter(
  (name) => !(NOT_COPIED as readonly string[]).includes(name),
) as CopiedTable[];
