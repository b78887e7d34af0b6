import type { Precondition } from "../../protocol/promotion/evidence.ts";
import { isTerminal, type RunStatus } from "../../protocol/runs/run-status.ts";
import { type DocumentId, type DocumentWrite, idIn } from "../port/documents.ts";
import type { ExternalEventKey, ExternalEventWrite } from "../port/gates.ts";
import type { QueueWrite, RunDeletion } from "../port/judgments.ts";
import type { ReviewWrite } from "../port/reviews.ts";
import type { CreationLimits, IdempotencyKey, IdempotencyOutcome, RunWrite, Unit } from "../port/store.ts";
import type { TapeWrite } from "../port/tapes.ts";
import type { RunsTable } from "../schema/runs.ts";
import type { AnnotationStep } from "./annotation-steps.ts";

/** Conditions of a unit: plain values, which are sent to the thread that writes. */
export interface UnitChecks {
  readonly tenant: string;
  readonly runs: readonly RunCheck[];
  readonly effectIds: readonly string[];
  readonly idempotency?: IdempotencyCheck;
  readonly externalEvents: readonly ExternalEventCheck[];
  readonly annotations: readonly AnnotationCheck[];
  readonly queues: readonly QueueCheck[];
  readonly tapes: readonly TapeCheck[];
  readonly reviews: readonly ReviewCheck[];
  readonly documents: readonly DocumentCheck[];
  readonly deletions: readonly DeletionCheck[];
  readonly preconditions: readonly Precondition[];
  readonly creationLimits?: CreationLimits;
}

export interface RunCheck {
  readonly runId: string;
  readonly expectedVersion: number;
  readonly heldBy?: string;
  /** Of a run that is created. */
  readonly dedup?: { readonly workflowId: string; readonly scope: string };
  /** The status after the write. */
  readonly status: RunStatus;
  readonly rootRunId: string | null;
  /** Whether events are added; otherwise only the lease changes. */
  readonly appends: boolean;
  /** Whether the run will wait in the queue, provided that no worker holds it. */
  readonly wakes: boolean;
  /** Whether a worker holds it after the write; "as before" when the lease is not touched. */
  readonly leased: boolean | "as before";
}

export interface IdempotencyCheck extends IdempotencyKey {
  readonly nowMs: number;
  readonly leaseOwner?: string;
}

export interface ExternalEventCheck {
  readonly key: ExternalEventKey;
  /** For a new event: one that has expired by now gives way. Absent where one must be held. */
  readonly newAtMs?: number;
}

export interface AnnotationCheck {
  readonly annotationId: string;
  /** The run that must be here. */
  readonly runId?: string;
  /** The columns it must have; absent for a new one, whose id must be free. */
  readonly before?: { readonly state: string; readonly flag: string | null };
}

/** Conditions on queues and items; a new one has revision 1. */
export type QueueCheck =
  | { readonly type: "there"; readonly queueId: string }
  | {
      readonly type: "queue";
      readonly queueId: string;
      readonly workspace: string | null;
      readonly name: string;
      readonly revision: number;
    }
  | {
      readonly type: "item";
      readonly itemId: string;
      readonly queueId: string;
      readonly runId: string;
      readonly subject: string;
      readonly revision: number;
    };

export type TapeCheck =
  /** No run has this digest in this workspace. */
  | { readonly type: "import"; readonly tenant: string; readonly workspace: string | null; readonly digest: string }
  | { readonly type: "sidecar"; readonly runId: string; readonly revision: number };

export interface ReviewCheck {
  readonly sessionId: string;
  /** Its revision, where 0 is that there is none, and its holder. Absent where it only has to be there. */
  readonly after?: { readonly revision: number; readonly heldBy: string | null };
}

export interface DocumentCheck {
  readonly id: DocumentId;
  /** 0 is that there is none. */
  readonly revision: number;
}

export type DeletionCheck = Pick<RunDeletion, "runId" | "version" | "atMs">;

interface WrittenRun {
  readonly write: RunWrite;
  readonly row: RunsTable;
}

/** `runs` have their rows written out, `steps` are what the annotation writes come to. */
export function checksOf(unit: Unit, runs: readonly WrittenRun[], steps: readonly AnnotationStep[]): UnitChecks {
  const { tenant, idempotency, creationLimits } = unit;
  return {
    tenant,
    runs: runs.map(runCheck),
    effectIds: (unit.effectClaims ?? []).map(({ effectId }) => effectId),
    ...(idempotency === undefined ? {} : { idempotency: idempotencyCheck(idempotency) }),
    externalEvents: (unit.externalEvents ?? []).map(externalEventCheck),
    annotations: steps.map(annotationCheck),
    queues: queueChecks(unit.queues ?? []),
    tapes: (unit.tapes ?? []).map(tapeCheck),
    reviews: (unit.reviews ?? []).map(reviewCheck),
    documents: (unit.documents ?? []).flatMap(documentCheck),
    deletions: (unit.deletions ?? []).map(({ runId, version, atMs }) => ({ runId, version, atMs })),
    preconditions: unit.preconditions ?? [],
    ...(creationLimits === undefined ? {} : { creationLimits }),
  };
}

function runCheck({ write, row }: WrittenRun): RunCheck {
  const { runId, expectedVersion, events, heldBy, lease, dedupScope } = write;
  const isNew = expectedVersion === 0;
  return {
    runId,
    expectedVersion,
    ...(heldBy === undefined ? {} : { heldBy }),
    ...(dedupScope === undefined || !isNew ? {} : { dedup: { workflowId: row.workflow_id, scope: dedupScope } }),
    status: row.status,
    rootRunId: row.root_run_id,
    appends: events.length > 0,
    wakes: row.wake_at !== null,
    leased: lease === undefined && !isNew ? "as before" : row.lease_owner !== null,
  };
}

/** Whether the run ends with the write. */
export function ends({ status }: RunCheck): boolean {
  return isTerminal(status);
}

function idempotencyCheck({ tenant, operation, key, nowMs, leaseOwner }: IdempotencyOutcome): IdempotencyCheck {
  return { tenant, operation, key, nowMs, ...(leaseOwner === undefined ? {} : { leaseOwner }) };
}

function externalEventCheck(write: ExternalEventWrite): ExternalEventCheck {
  const { tenant, workspace, correlationId, eventId } = write.type === "put" ? write.event : write.key;
  const key = { tenant, workspace, correlationId, eventId };
  return write.type === "put" ? { key, newAtMs: write.nowMs } : { key };
}

function annotationCheck({ before, after, needsRun }: AnnotationStep): AnnotationCheck {
  return {
    annotationId: after.annotationId,
    ...(needsRun ? { runId: after.runId } : {}),
    ...(before === undefined ? {} : { before: { state: before.state, flag: before.flag?.status ?? null } }),
  };
}

function queueChecks(writes: readonly QueueWrite[]): QueueCheck[] {
  // A queue may be filled in the unit that makes it.
  const made = new Set(writes.flatMap((write) => (write.type === "queue" ? [write.queue.queueId] : [])));
  const there = (queueIds: Iterable<string>) =>
    [...queueIds].filter((queueId) => !made.has(queueId)).map((queueId) => ({ type: "there", queueId }) as const);
  return writes.flatMap((write): QueueCheck[] => {
    if (write.type === "fill") return there(new Set(write.items.map(({ queueId }) => queueId)));
    if (write.type === "queue") {
      const { queueId, workspace = null, name, revision } = write.queue;
      return [{ type: "queue", queueId, workspace, name, revision }];
    }
    const { itemId, queueId, runId, subject, revision } = write.item;
    return [...there([queueId]), { type: "item", itemId, queueId, runId, subject, revision }];
  });
}

function tapeCheck(write: TapeWrite): TapeCheck {
  if (write.type === "sidecar")
    return { type: "sidecar", runId: write.sidecar.runId, revision: write.sidecar.revision };
  const { tenant, workspace = null, digest } = write.tape;
  return { type: "import", tenant, workspace, digest };
}

function reviewCheck(write: ReviewWrite): ReviewCheck {
  if (write.type === "delete") return { sessionId: write.sessionId };
  const { session, heldBy = null } = write;
  return { sessionId: session.sessionId, after: { revision: session.revision - 1, heldBy } };
}

function documentCheck(write: DocumentWrite): DocumentCheck[] {
  if (write.type === "keep") return [];
  const { tenant, kind, key } = idIn(write);
  return [{ id: { tenant, kind, key }, revision: "id" in write ? write.revision : write.document.revision - 1 }];
}
