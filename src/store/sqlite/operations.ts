import type { Ground } from "../../protocol/promotion/evidence.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import type { ExternalEventKey } from "../port/gates.ts";
import type { RunDeletion } from "../port/judgments.ts";
import type { CancelledFamily, Claim, CreationLimits, Refusal } from "../port/store.ts";
import type { DocumentCheck } from "../rows/refuse-document.ts";
import type { ReviewCheck } from "../rows/refuse-review.ts";
import type { SqliteValue } from "./open-database.ts";
import type { StatementName } from "./statements.ts";

/**
 * What the main thread asks of the writer. Everything is flat, texts are serialised once by the caller's thread, and
 * the writer binds them as they are: copying between threads costs per object, hardly per byte.
 */
export type Operation =
  | { readonly kind: "unit"; readonly unit: FlatUnit }
  | { readonly kind: "statement"; readonly sql: string; readonly parameters: SqliteValue[] }
  /** The rest happens only if the first changed a row; the outcome says whether it did. */
  | { readonly kind: "guarded"; readonly first: Write; readonly rest: readonly Write[] }
  | { readonly kind: "claim"; readonly claim: Claim }
  | { readonly kind: "renew"; readonly owner: string; readonly runIds: readonly string[]; readonly untilMs: number };

/** A unit taken apart: what must hold, then what is written. */
export interface FlatUnit {
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
  readonly grounds: readonly Ground[];
  readonly creationLimits?: CreationLimits;
  readonly cancelledFamilies: readonly CancelledFamily[];
  readonly writes: readonly Write[];
  /** JSON text of the drafts; their places in the chain are known only to the writer. */
  readonly audit?: string;
  /** What happened to annotations; their places follow from those of the audit entries. */
  readonly history: readonly (readonly [annotationId: string, change: string])[];
}

export interface RunCheck {
  readonly runId: string;
  readonly expectedVersion: number;
  readonly heldBy?: string;
  readonly dedup?: { readonly workflowId: string; readonly scope: string };
  /** The status after the write. */
  readonly status: RunStatus;
  readonly rootRunId: string | null;
  /** Whether events are added; otherwise only the lease changes. */
  readonly appends: boolean;
  /** Whether the run will wait in the queue, provided nobody holds it. */
  readonly wakes: boolean;
  /** Whether somebody holds it after the write; "as before" when the lease is not touched. */
  readonly leased: boolean | "as before";
}

export interface IdempotencyCheck {
  readonly tenant: string;
  readonly operation: string;
  readonly key: string;
  readonly nowMs: number;
  readonly leaseOwner?: string;
}

export interface ExternalEventCheck {
  readonly key: ExternalEventKey;
  /** For a new event: one that has expired by now is in nobody's way. Absent where one must be held. */
  readonly newAtMs?: number;
}

export interface AnnotationCheck {
  readonly annotationId: string;
  /** The run that must be here. */
  readonly runId?: string;
  /** How it must stand; absent for a new one, whose id must be free. */
  readonly before?: { readonly state: string; readonly flag: string | null };
}

/** What must hold of queues and items; a new one carries revision 1. */
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
  | { readonly type: "import"; readonly workspace: string | null; readonly digest: string }
  | { readonly type: "sidecar"; readonly runId: string; readonly revision: number };

export type DeletionCheck = Pick<RunDeletion, "runId" | "version" | "atMs">;

export type Write = readonly [statement: StatementName, values: readonly SqliteValue[]];

/** One for each operation, in order. */
export type Outcome =
  | { readonly kind: "committed"; readonly work: boolean }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "rows"; readonly rows: unknown[]; readonly changes: number }
  /** Errors lose their class between threads. `trouble` is the database's fault, otherwise it is ours. */
  | { readonly kind: "failed"; readonly trouble: boolean; readonly message: string };
