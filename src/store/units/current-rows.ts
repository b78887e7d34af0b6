import type { DocumentId } from "../port/documents.ts";
import type { ExternalEventKey } from "../port/gates.ts";
import type { IdempotencyKey } from "../port/store.ts";
import type { ExternalEventsTable } from "../schema/gates.ts";
import type { IdempotencyTable } from "../schema/host.ts";
import type { AnnotationsTable } from "../schema/judgments.ts";
import type { QueueItemsTable, QueuesTable } from "../schema/queues.ts";
import type { ReviewSessionsTable } from "../schema/reviews.ts";
import type { EffectsTable, RunFamiliesTable, RunsTable } from "../schema/runs.ts";

export type CurrentRun = Pick<
  RunsTable,
  "tenant" | "version" | "status" | "dedup_scope" | "lease_owner" | "lease_until"
>;
export type CurrentQueue = Pick<QueuesTable, "queue_id" | "tenant" | "revision">;
export type CurrentItem = Pick<QueueItemsTable, "item_id" | "tenant" | "queue_id" | "revision">;
export type CurrentReview = Pick<ReviewSessionsTable, "tenant" | "revision" | "lease_owner">;

/**
 * The rows that units are checked against, as they are after the units before. SQLite looks each up when it is asked for; PostgreSQL has
 * locked and fetched all of a batch ahead. Undefined is that there is no such row.
 */
export interface CurrentRows {
  run(runId: string): CurrentRun | undefined;
  /** The run that has not ended in a dedup scope. */
  activeRun(tenant: string, workflowId: string, scope: string): string | undefined;
  /** How many runs of a tenant have not ended. */
  activeRuns(tenant: string): number;
  family(rootRunId: string): Pick<RunFamiliesTable, "descendants" | "cancelled_at"> | undefined;
  effect(effectId: string): EffectsTable | undefined;
  outcome(key: IdempotencyKey): IdempotencyTable | undefined;
  externalEvent(key: ExternalEventKey): ExternalEventsTable | undefined;
  annotation(tenant: string, annotationId: string): Pick<AnnotationsTable, "state" | "flag_status"> | undefined;
  queue(queueId: string): CurrentQueue | undefined;
  queueNamed(tenant: string, workspace: string | null, name: string): CurrentQueue | undefined;
  item(itemId: string): CurrentItem | undefined;
  /** The item of a queue that is about a subject. */
  itemAbout(queueId: string, subject: string): Pick<QueueItemsTable, "item_id" | "revision"> | undefined;
  /** The run that came from a tape with the digest. */
  tape(tenant: string, workspace: string | null, digest: string): string | undefined;
  /** The revision of the sidecar of a run; 0 is that there is none. */
  sidecarRevision(runId: string): number;
  review(sessionId: string): CurrentReview | undefined;
  /** 0 is that there is none. */
  documentRevision(id: DocumentId): number;
  /** Whether something happened to an annotation on the run after a place in the history of the tenant. */
  judgedSince(tenant: string, seq: number, runId: string): boolean;
}
