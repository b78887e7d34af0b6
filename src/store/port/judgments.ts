import type { AgentFields } from "../../protocol/agents/agent-of.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { ActorKind, AnnotationState, Signal, SignalKind } from "../../protocol/judgments/annotation.ts";
import type { QueueItemState } from "../../protocol/queues/api.ts";
import type { RowPage } from "./large-rows.ts";
import type {
  EndedRun,
  EndedRunQuery,
  FreeItemQuery,
  QueueItemQuery,
  QueueItemRecord,
  QueueRecord,
  ReviewerProgress,
} from "./queue-records.ts";

export type * from "./queue-records.ts";

/**
 * Judgments of runs: annotations with their history, what is counted of them, review queues, and what is left of runs
 * that were deleted. None of it is in the log of a run. Pages of lists are `cut` where their rows are large.
 *
 * Every change of an annotation has a place in its tenant's history: the sequence of the audit entry that was committed
 * with it, and its number among the changes of that commit. Places are handed out in the order of commits, so a reader that has
 * read up to one has missed nothing before it, whichever process wrote it.
 */
export interface Judgments {
  /** Undefined when there is none that the caller may see. */
  readAnnotation(visible: Visibility, annotationId: string): Promise<AnnotationRecord | undefined>;
  /** Those of them that the tenant has, in no order. For imports: any workspace. */
  annotationsById(tenant: string, annotationIds: readonly string[]): Promise<AnnotationRecord[]>;
  /** The ids of those of them that are live and were made here, in no order. */
  liveAnnotations(tenant: string, annotationIds: readonly string[]): Promise<string[]>;
  /** How many bytes the texts of those of them take that the tenant has, without reading them. */
  annotationBytes(tenant: string, annotationIds: readonly string[]): Promise<number>;
  /** Oldest first, whatever their state. Unscoped: callers look the run up first. */
  annotationsOfRun(
    runId: string,
    after: AnnotationPlace | undefined,
    limit: number,
  ): Promise<RowPage<AnnotationRecord>>;
  listAnnotations(visible: Visibility, query: AnnotationQuery): Promise<RowPage<AnnotationRecord>>;

  /** In the order of commits, after a place, each with the annotation as it is now. */
  annotationChanges(tenant: string, after: ChangePlace, limit: number): Promise<RowPage<AnnotationChange>>;
  /** Where the history of a tenant ends now; `{ seq: 0, n: 0 }` when nothing was ever written. */
  annotationHead(tenant: string): Promise<ChangePlace>;
  /** Where a change is in the history; undefined when it never was, or was deleted with its run. */
  changePlace(tenant: string, annotationId: string, change: AnnotationChangeKind): Promise<ChangePlace | undefined>;
  /** Before everything that was recorded at this time or later, and up to a day before it. */
  changePlaceAt(tenant: string, recordedAtMs: number): Promise<ChangePlace>;

  /** The event of a run with this id. Unscoped: callers look the run up first. */
  findEvent(runId: string, eventId: string): Promise<EventPlace | undefined>;
  /** The events of a run with these ids, found in one pass through its log. Unscoped, too. */
  findEvents(runId: string, eventIds: readonly string[]): Promise<EventPlace[]>;

  /** Tallies of terminal runs and the annotations on them; see `FeedbackRow`. One row per group and kind of actor. */
  feedbackSummary(visible: Visibility, query: FeedbackQuery): Promise<FeedbackRow[]>;
  /** The stored tallies of a run's annotations, by key, for the rebuild check. */
  feedbackRows(runId: string): Promise<{ feedback: readonly object[]; labels: readonly object[] }>;

  readQueue(visible: Visibility, queueId: string): Promise<QueueRecord | undefined>;
  /** Newest first; `before` is the id of the last one of the page before. */
  listQueues(
    visible: Visibility,
    query: { readonly limit: number; readonly before?: string },
  ): Promise<RowPage<QueueRecord>>;
  readQueueItem(visible: Visibility, queueId: string, itemId: string): Promise<QueueItemRecord | undefined>;
  /** Those of them that the tenant has, in no order; of whatever queue and workspace. */
  queueItemsById(tenant: string, itemIds: readonly string[]): Promise<QueueItemRecord[]>;
  /** In order of `position`, then id. */
  listQueueItems(visible: Visibility, query: QueueItemQuery): Promise<RowPage<QueueItemRecord>>;
  /**
   * Open items that the reviewer neither judged, skipped nor holds, in order of `position`, then id, of which fewer than
   * required are taken at `nowMs` (judged, or leased until later).
   */
  freeQueueItems(visible: Visibility, query: FreeItemQuery): Promise<QueueItemRecord[]>;
  /** Those of the subjects that the queue has. */
  queueSubjects(queueId: string, subjects: readonly string[]): Promise<string[]>;
  /** Queues of every tenant in the order of their ids, after one; for the process that fills them. */
  queuesAfter(queueId: string, limit: number): Promise<QueueRecord[]>;
  /** The progress of the reviewers of a queue. */
  queueProgress(queueId: string): Promise<ReviewerProgress[]>;
  /** How many items the queue has, by state. */
  countQueueItems(queueId: string): Promise<Partial<Record<QueueItemState, number>>>;
  /** Terminal runs, by when they ended, then id; for queues that fill themselves. */
  endedRuns(visible: Visibility, query: EndedRunQuery): Promise<EndedRun[]>;

  /** The tombstone of a run that was deleted or whose retention was over. */
  readTombstone(visible: Visibility, runId: string): Promise<Tombstone | undefined>;
  /** Which workflows there are runs of, whether they are still registered or not. */
  runWorkflows(): Promise<{ readonly tenant: string; readonly workflowId: string }[]>;
  /** Terminal runs of a workflow that ended before a time, in the order they were created. */
  expiredRuns(query: ExpiredQuery): Promise<string[]>;
  /**
   * How much of a run there is to delete, with its descendants: undefined when the caller cannot see it. `active` are
   * those of them that have not ended.
   */
  deletionOf(visible: Visibility, runId: string): Promise<Deletion | undefined>;

  /** The cursor of an exporter of changes; one for each name and tenant. */
  readCursor(name: string, tenant: string): Promise<ChangePlace | undefined>;
  putCursor(name: string, tenant: string, place: ChangePlace): Promise<void>;
  /** Tenants whose history has changes after the cursor of this name. */
  tenantsBehind(name: string): Promise<string[]>;
}

// --- annotations --------------------------------------------------------------------------------------------

/** A judgment with Assay's additions to the protocol's object. All texts are scrubbed. */
export interface AnnotationRecord extends AgentFields {
  readonly annotationId: string;
  readonly tenant: string;
  /** Of the run. */
  readonly workspace?: string;
  readonly runId: string;
  readonly workflowId: string;
  readonly target: { readonly eventId?: string; readonly nodeId?: string };
  /** The node it is about: the target itself, or the node of the target event. */
  readonly aboutNode?: string;
  readonly signal: Signal;
  readonly note?: string;
  readonly actor: string;
  readonly actorKind: ActorKind;
  /** Of agents only, 0 to 1. */
  readonly confidence?: number;
  readonly createdAtMs: number;
  readonly state: AnnotationState;
  readonly supersedes?: string;
  readonly supersededBy?: string;
  readonly supersededAtMs?: number;
  readonly retraction?: { readonly by: string; readonly atMs: number; readonly reason: string };
  /** Of flags only. */
  readonly flag?: FlagState;
  /** The item of a review queue it was given for. */
  readonly queueItemId?: string;
  /** The principal who imported it. */
  readonly importedBy?: string;
  /** The line of a sidecar that it came with, as it was written there but for secrets; without its line end. */
  readonly tapeRow?: string;
}

export type FlagState =
  | { readonly status: "open" }
  | { readonly status: "closed"; readonly by: string; readonly atMs: number; readonly note: string };

/** The order of every list: by time, and among equals by id. */
export interface AnnotationPlace {
  readonly createdAtMs: number;
  readonly annotationId: string;
}

export interface ChangePlace {
  readonly seq: number;
  readonly n: number;
}

export const ANNOTATION_CHANGES = ["recorded", "superseded", "retracted", "closed"] as const;
/** `shown`: the item of a blind queue that it was given for needs no more judgments, and hides it no more. */
export type AnnotationChangeKind = (typeof ANNOTATION_CHANGES)[number] | "shown";

export interface AnnotationChange {
  readonly place: ChangePlace;
  readonly change: AnnotationChangeKind;
  readonly annotation: AnnotationRecord;
  /**
   * Kept from all but its author and those who look after queues: its item is open in a blind queue, or has been since, and then the
   * history has it again as `shown`. Read in the same snapshot as the place, so that it is reported once.
   */
  readonly withheld: boolean;
}

/**
 * A unit with annotation writes needs at least one audit entry, which gives the changes their place. Refused, with
 * nothing written, when the run is not there or the annotation it is about is not as `earlier` says.
 */
export type AnnotationWrite =
  /** New. When it supersedes, `earlier` is that annotation, which must be live, and becomes superseded by this one. */
  | { readonly type: "record"; readonly annotation: AnnotationRecord; readonly earlier?: AnnotationRecord }
  | {
      readonly type: "retract";
      readonly earlier: AnnotationRecord;
      readonly retraction: NonNullable<AnnotationRecord["retraction"]>;
    }
  | {
      readonly type: "close";
      readonly earlier: AnnotationRecord;
      readonly flag: Extract<FlagState, { status: "closed" }>;
    }
  /** The item of a blind queue that it was given for needs no more judgments. The annotation stays as it is. */
  | { readonly type: "show"; readonly earlier: AnnotationRecord }
  /**
   * As it is elsewhere, in whatever state, also on a run that is not here. With `earlier`, which is here and stands as it
   * says: what happened to it since. With `onRun` its run was here, and it is refused when that has gone in the meantime.
   */
  | {
      readonly type: "import";
      readonly annotation: AnnotationRecord;
      readonly earlier?: AnnotationRecord;
      readonly onRun?: true;
    };

export interface AnnotationQuery {
  readonly limit: number;
  readonly order: "oldest" | "newest";
  /** The last one of the page before. */
  readonly after?: AnnotationPlace;
  readonly annotationId?: string;
  readonly runId?: string;
  readonly workflowId?: string;
  readonly agentId?: string;
  /** Of `aboutNode`. */
  readonly nodeId?: string;
  readonly kind?: SignalKind;
  readonly label?: string;
  readonly actor?: string;
  readonly actorKind?: ActorKind;
  readonly state?: AnnotationState;
  /** `open` and `closed` flags; both imply the kind and that it is live. */
  readonly flag?: "open" | "closed";
  /** Of the rating, inclusive. */
  readonly ratingMax?: number;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** Words, each of which a word of the note or correction begins with; see `search-words.ts`. */
  readonly words?: readonly string[];
  /** Leaves out judgments by others of items in blind queues that this principal has yet to judge. */
  readonly blindFor?: string;
}

export interface EventPlace {
  readonly eventId: string;
  readonly sequence: number;
  readonly type: string;
  readonly nodeId?: string;
}

// --- summary ------------------------------------------------------------------------------------------------

export interface FeedbackQuery {
  /** Of when runs ended; `fromMs` inclusive, `toMs` exclusive. */
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly workflowId?: string;
  readonly agentId?: string;
  /** Only annotations about this node; runs are counted all the same. */
  readonly nodeId?: string;
  readonly groupBy?: "workflow" | "agent" | "node" | "day";
  readonly recounted?: RecountedRuns;
}

/** Runs that are not counted by their tallies: of their judgments only these count. */
export interface RecountedRuns {
  readonly runIds: readonly string[];
  readonly annotations: readonly AnnotationRecord[];
}

/** Of live annotations on terminal runs that ended in the period, and of those runs. */
export interface FeedbackRow {
  /** "" when not grouped; a workflow, an agent ("" for none), `workflow node`, or an ISO date. */
  readonly key: string;
  /** Terminal runs of the group, and how many of them a person decided an interrupt of. The same in each actor's row. */
  readonly runs: number;
  readonly intervened: number;
  /** `imported` for imported judgments, whatever kind of actor they name. */
  readonly actorKind: ActorKind | "imported";
  readonly annotatedRuns: number;
  readonly annotations: number;
  /** How many ratings of 1, 2, 3, 4 and 5. */
  readonly histogram: readonly [number, number, number, number, number];
  /** Runs with a rating, and the sum of the mean ratings of each. */
  readonly ratedRuns: number;
  readonly meanRatings: number;
  readonly corrections: number;
  readonly correctedRuns: number;
  readonly flags: number;
  readonly flaggedRuns: number;
  /** Runs with a rating or a label pass or fail; positive are those of which more than half are 4, 5 or pass. */
  readonly judgedRuns: number;
  readonly positiveRuns: number;
  /** The most frequent ones with their numbers, and how many judgments gave another one. */
  readonly labels: Readonly<Record<string, number>>;
  readonly otherLabels: number;
}

/** A group of no runs, as people judged it. */
export const NO_FEEDBACK: FeedbackRow = {
  key: "",
  runs: 0,
  intervened: 0,
  actorKind: "person",
  annotatedRuns: 0,
  annotations: 0,
  histogram: [0, 0, 0, 0, 0],
  ratedRuns: 0,
  meanRatings: 0,
  corrections: 0,
  correctedRuns: 0,
  flags: 0,
  flaggedRuns: 0,
  judgedRuns: 0,
  positiveRuns: 0,
  labels: {},
  otherLabels: 0,
};

// --- deletion -----------------------------------------------------------------------------------------------

export interface Tombstone {
  readonly runId: string;
  readonly tenant: string;
  readonly workspace?: string;
  readonly workflowId: string;
  /** How many events it had. */
  readonly version: number;
  readonly reason: "deleted" | "expired";
  readonly atMs: number;
}

export interface Deletion {
  /** The run and its descendants. */
  readonly runs: readonly {
    readonly runId: string;
    readonly workspace?: string;
    readonly workflowId: string;
    readonly version: number;
  }[];
  readonly active: readonly string[];
  readonly annotations: number;
}

/**
 * Removes a run with everything about it: events, artifacts, interrupts and votes, deliveries, effects, annotations with
 * their history and tallies, queue items, and the recorded outcomes of requests about it. Leaves a tombstone. Refused
 * unless the run stands at `version`, has ended, and no worker holds it at `atMs`.
 */
export interface RunDeletion extends Tombstone {}

export interface ExpiredQuery {
  readonly tenant: string;
  readonly workflowId: string;
  readonly endedBeforeMs: number;
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: string;
}
