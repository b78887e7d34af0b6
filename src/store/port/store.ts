import type { AuditDraft } from "../../protocol/audit/audit.ts";
import type { RunEvent } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { AnnotationState } from "../../protocol/judgments/annotation.ts";
import type { Precondition } from "../../protocol/promotion/evidence.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import type { Audit } from "./audit.ts";
import type { DocumentId, Documents, DocumentWrite } from "./documents.ts";
import type {
  DeliveryWrite,
  ExternalEventRecord,
  ExternalEventWrite,
  Gates,
  RoleDefinitionWrite,
  Webhooks,
  WebhookWrite,
} from "./gates.ts";
import type { AnnotationWrite, Judgments, QueueWrite, RunDeletion } from "./judgments.ts";
import type { Keys, KeyWrite, RoleBinding } from "./keys.ts";
import type { RowPage } from "./large-rows.ts";
import type { Reviews, ReviewWrite } from "./reviews.ts";
import type {
  ArtifactWrite,
  EffectClaim,
  EffectOutcome,
  EffectRecord,
  IdempotencyOutcome,
  IdempotencyRecord,
  Side,
} from "./side.ts";
import type { Tapes, TapeWrite } from "./tapes.ts";
import type { RunOutline, WorkQueue } from "./work-queue.ts";
import type { Workflows, WorkflowWrite } from "./workflows.ts";

export type * from "./audit.ts";
export type * from "./keys.ts";
export type * from "./side.ts";
export type * from "./work-queue.ts";
export * from "./workflows.ts";

/**
 * Everything Assay remembers. Two adapters implement it, SQLite and PostgreSQL; `contract.ts` proves them equal.
 *
 * Promises that hold for every method:
 * - What a resolved promise acknowledged survives `kill -9` and power loss.
 * - Reads see every commit acknowledged before they were called, in this process; in other processes of the same
 *   PostgreSQL as well, since all read the one database.
 * - A database error throws `AppError("unavailable")`; nothing was acknowledged then.
 * - Rows of another tenant are never returned: the tenant is part of the query that fetches them.
 */
export interface Store
  extends RunReads,
    WorkQueue,
    Workflows,
    Keys,
    Audit,
    Side,
    Gates,
    Webhooks,
    Judgments,
    Tapes,
    Reviews,
    Documents {
  /**
   * The one way to change anything. All of a unit happens or none of it. Concurrent units share a transaction
   * (group commit), but each is checked alone: a refused unit fails only its caller. Resolves after the commit is
   * durable, or with the refusal.
   */
  commit(unit: Unit): Promise<Committed>;

  /** Called after commits of this process and, on PostgreSQL, of every other. A lost call costs latency, never data. */
  onChange(listener: (change: Change) => void): () => void;

  /** Makes one small write durable: resolves when the database takes writes now, throws `unavailable` when it does not. */
  ping(): Promise<void>;

  /** Waits for commits under way, then lets go of everything. Later calls throw `unavailable`. */
  close(): Promise<void>;
}

/** All changes of one request or one turn of a worker. Empty parts are left out. */
export interface Unit {
  readonly tenant: string;
  /** At most one write per run in a unit. */
  readonly runs?: readonly RunWrite[];
  /** Runs or events of the unit are large: they are written out with other work in between. */
  readonly large?: boolean;
  /** Entries of the tenant's audit chain, in order. */
  readonly audit?: readonly AuditDraft[];
  /** The outcome of a request under its idempotency key; the unit is refused when the key already has one. */
  readonly idempotency?: IdempotencyOutcome;
  /** Claims of external effects, insert-if-absent; the unit is refused when one is already claimed. */
  readonly effectClaims?: readonly EffectClaim[];
  readonly effectOutcomes?: readonly EffectOutcome[];
  readonly workflows?: readonly WorkflowWrite[];
  readonly artifacts?: readonly ArtifactWrite[];
  readonly keys?: readonly KeyWrite[];
  readonly roles?: readonly RoleBinding[];
  readonly roleDefinitions?: readonly RoleDefinitionWrite[];
  readonly externalEvents?: readonly ExternalEventWrite[];
  readonly webhooks?: readonly WebhookWrite[];
  /** Rows of the outbox; they exist exactly when the events they are about do. */
  readonly deliveries?: readonly DeliveryWrite[];
  readonly annotations?: readonly AnnotationWrite[];
  readonly queues?: readonly QueueWrite[];
  readonly tapes?: readonly TapeWrite[];
  readonly reviews?: readonly ReviewWrite[];
  /** At most one write per document in a unit. */
  readonly documents?: readonly DocumentWrite[];
  readonly deletions?: readonly RunDeletion[];
  /** Bounds on the runs that the unit creates; it is refused beyond them. Absent: runs are counted and not bounded. */
  readonly creationLimits?: CreationLimits;
  /** Root runs whose families are cancelled: from this commit on no run is started below them. */
  readonly cancelledFamilies?: readonly CancelledFamily[];
  /**
   * The facts that the unit was decided on and does not write; it is refused when they have changed since. Only with audit entries: by their
   * chain it meets the judgments of others.
   */
  readonly preconditions?: readonly Precondition[];
}

/**
 * Appends events to a run and replaces what is derived from them. `run` is the fold of the log including
 * `events`; the store trusts it because `expectedVersion` is checked in the same transaction.
 */
export interface RunWrite {
  readonly runId: string;
  /** The version the events were decided at. 0 creates the run; the unit is refused when the run is elsewhere. */
  readonly expectedVersion: number;
  /** Sequences run from `expectedVersion` without a gap. May be empty when only the lease changes. */
  readonly events: readonly RunEvent[];
  readonly run: Run;
  /** The unit is refused unless this worker holds the lease now. Fences a worker that lost its run. */
  readonly heldBy?: string;
  /** Absent: the lease stays as it is. */
  readonly lease?: Lease | "release";
  /** Only on creation: at most one run that has not ended may exist per (tenant, workflowId, dedupScope). */
  readonly dedupScope?: string;
}

export interface CreationLimits {
  /** Runs of the tenant that have not ended. */
  readonly activeRuns: number;
  /** Runs started below one root run, whether they have ended or not. */
  readonly descendants: number;
}

export interface CancelledFamily {
  readonly rootRunId: string;
  readonly atMs: number;
}

export interface Lease {
  readonly owner: string;
  readonly untilMs: number;
}

export type Committed = { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal };

export type Refusal =
  /** The run is at `version`, not where the writer thought; 0 when it does not exist. */
  | { readonly type: "version"; readonly runId: string; readonly version: number }
  | { readonly type: "lease"; readonly runId: string }
  /** Another run is active in the same dedup scope. */
  | { readonly type: "active"; readonly runId: string }
  /** The tenant has as many runs that have not ended as it may; `left` more could be created. */
  | { readonly type: "tenant-limit"; readonly limit: number; readonly left: number }
  /** The root has as many descendants as it may, or its family was cancelled; `left` more could be created. */
  | {
      readonly type: "family-limit";
      readonly rootRunId: string;
      readonly limit: number;
      readonly left: number;
      readonly cancelled: boolean;
    }
  | { readonly type: "idempotency"; readonly record: IdempotencyRecord }
  | { readonly type: "effect"; readonly record: EffectRecord }
  /** Absent when the event to be delivered is held no longer, and was purged since. */
  | { readonly type: "external-event"; readonly record?: ExternalEventRecord }
  /** An annotation is not as the writer thought; without a state when it is not there, or with another id taken. */
  | { readonly type: "annotation"; readonly annotationId: string; readonly state?: AnnotationState }
  /** An evaluation that the unit depends on was judged anew since. */
  | { readonly type: "precondition"; readonly runId: string }
  /** A queue or item is at another revision; 0 when it is not there. */
  | { readonly type: "queue"; readonly id: string; readonly revision: number }
  /** The run that has the digest already, or whose sidecar is at another revision. */
  | { readonly type: "tape"; readonly runId: string }
  /** The session of a review went on, is held by another, or is not there. */
  | { readonly type: "review"; readonly sessionId: string; readonly there: boolean }
  /** A document is at another revision; 0 when it is not there. */
  | ({ readonly type: "document"; readonly revision: number } & DocumentId);

export interface Change {
  /** Runs with new events; "all" when the listener may have missed some and should read everything it follows. */
  readonly runIds: readonly string[] | "all";
  /** Some run may be claimable now or later: workers read the queue. */
  readonly work: boolean;
  /** Keys or roles changed: caches let go. */
  readonly keys: boolean;
  /** Webhooks changed, or there are deliveries to make. */
  readonly webhooks: boolean;
  readonly deliveries: boolean;
  /** Annotations were recorded, or something happened to them. */
  readonly annotations: boolean;
  /** Review queues or their items changed. */
  readonly queues: boolean;
}

export const NO_CHANGE: Change = {
  runIds: [],
  work: false,
  keys: false,
  webhooks: false,
  deliveries: false,
  annotations: false,
  queues: false,
};

// --- runs ---------------------------------------------------------------------------------------------------

export interface RunReads {
  /** The folded run, or undefined when there is none that the caller may see. */
  readRun(visible: Visibility, runId: string): Promise<Run | undefined>;
  /**
   * Ascending by sequence, `sequence >= fromSequence`, at most `limit`; fewer, and `cut`, where events are large. Unscoped: callers look
   * the run up first.
   */
  readEvents(runId: string, fromSequence: number, limit: number): Promise<EventPage>;
  /** How many bytes the events with a sequence below `toSequence` take, without reading them. */
  logBytes(runId: string, toSequence: number): Promise<number>;
  /** Newest first. `before` is the id of the last run of the page before. */
  listRuns(visible: Visibility, query: RunQuery): Promise<Run[]>;
  /** The bytes of the states that `listRuns` would return for the same query, without reading them. */
  stateBytes(visible: Visibility, query: RunQuery): Promise<number[]>;
  /**
   * The id of the run after `limit` others that the query finds without `agentId` and `tag`, which no index holds; undefined
   * when there are not so many.
   */
  runIdBeyond(visible: Visibility, query: Omit<RunQuery, "agentId" | "tag">): Promise<string | undefined>;
  /** Ids of all runs in id order, for the rebuild check; pages by `after`. */
  allRunIds(after: string, limit: number): Promise<string[]>;
  /** The tenant of a run, for routes whose credential names a run and no tenant. Reads nothing of its state. */
  tenantOf(runId: string): Promise<string | undefined>;
  /** The derived columns of a run row, for the rebuild check. */
  runRow(runId: string): Promise<RunRow | undefined>;
  countRuns(): Promise<Partial<Record<RunStatus, number>>>;
  /** Runs below a root that have not ended, in id order; pages by `after`. */
  activeDescendants(visible: Visibility, query: DescendantQuery): Promise<Run[]>;
  /** Status and size of runs of a tenant, without reading their states; runs that do not exist are left out. */
  runOutlines(tenant: string, runIds: readonly string[]): Promise<RunOutline[]>;
  /** The small members of a run, with `stateOmitted`; nothing else of its state is read. Undefined as for `readRun`. */
  readHead(visible: Visibility, runId: string): Promise<Run | undefined>;
  /** The counts that creations are checked against, for the rebuild check. */
  countedRuns(): Promise<CountedRuns>;
}

export interface DescendantQuery extends StateBound {
  readonly rootRunId: string;
  readonly after: string;
  readonly limit: number;
}

export interface StateBound {
  /** Of a run whose state has more bytes only the head is read. */
  readonly statesUpTo?: number;
}

export interface CountedRuns {
  /** Runs that have not ended, by tenant. */
  readonly active: Readonly<Record<string, number>>;
  /** Runs that were started below a root, by root. */
  readonly descendants: Readonly<Record<string, number>>;
}

export type EventPage = RowPage<StoredEvent>;

export interface StoredEvent {
  readonly sequence: number;
  readonly type: string;
  /** The served JSON text (RunEventDoc), byte for byte what every surface sends. */
  readonly body: string;
  /** JSON text of the payload with its sensitive values, when it has any. Never served. */
  readonly sealed?: string;
}

export interface RunQuery extends StateBound {
  readonly limit: number;
  readonly before?: string;
  readonly workflowId?: string;
  readonly status?: RunStatus;
  /** Of when runs were created here, which their ids begin with; `fromMs` inclusive, `toMs` exclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Named by the run's metadata or called by the host. */
  readonly agentId?: string;
  readonly tag?: string;
  /** The oldest run to look at, inclusive. */
  readonly notBefore?: string;
}

/** Everything a run row holds that must follow from the log. */
export interface RunRow {
  readonly runId: string;
  readonly tenant: string;
  readonly workspace: string | null;
  readonly workflowId: string;
  readonly workflowHash: string;
  readonly status: RunStatus;
  readonly version: number;
  readonly engineVersion: number;
  readonly wakeAtMs: number | null;
  readonly agentId: string | null;
  readonly intervened: boolean;
  readonly state: Run;
}
