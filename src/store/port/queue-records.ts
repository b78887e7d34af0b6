import type { AgentFields } from "../../protocol/agents/agent-of.ts";
import type { QueueItemState } from "../../protocol/queues/api.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";

/** The engine's view of a queue is in `body`; the store finds it by the other members. */
export interface QueueRecord {
  readonly queueId: string;
  readonly tenant: string;
  readonly workspace?: string;
  readonly name: string;
  /** Counts up with every write; 1 when it is new. */
  readonly revision: number;
  readonly createdAtMs: number;
  /** Whether others' judgments are kept from those who have yet to judge. */
  readonly blind: boolean;
  /** JSON. */
  readonly body: string;
}

export interface QueueItemRecord {
  readonly itemId: string;
  readonly queueId: string;
  readonly tenant: string;
  readonly workspace?: string;
  readonly runId: string;
  /** The subject of the item; it is unique within the queue. */
  readonly subject: string;
  readonly state: QueueItemState;
  readonly position: number;
  /** How many reviewers it needs. */
  readonly required: number;
  readonly revision: number;
  readonly createdAtMs: number;
  readonly reviews: readonly ReviewRecord[];
  /** JSON: everything else. */
  readonly body: string;
}

/** The part of one reviewer in an item; one row for each reviewer. */
export interface ReviewRecord {
  readonly reviewer: string;
  readonly status: "leased" | "judged" | "skipped";
  /** Of a lease. */
  readonly untilMs?: number;
  readonly atMs: number;
}

/** Refused unless the queue or item stands at `revision - 1`; 0 is that there is none. */
export type QueueWrite =
  | { readonly type: "queue"; readonly queue: QueueRecord }
  | { readonly type: "item"; readonly item: QueueItemRecord }
  /** New items; those whose subject the queue already has are passed over. */
  | { readonly type: "fill"; readonly items: readonly QueueItemRecord[] };

export interface QueueItemQuery {
  readonly queueId: string;
  readonly limit: number;
  readonly after?: { readonly position: number; readonly itemId: string };
  readonly state?: QueueItemState;
  /** Those that this reviewer holds, judged or skipped. */
  readonly reviewer?: string;
  readonly reviewStatus?: ReviewRecord["status"];
}

export interface FreeItemQuery {
  readonly queueId: string;
  readonly reviewer: string;
  readonly nowMs: number;
  readonly limit: number;
}

export interface ReviewerProgress {
  readonly reviewer: string;
  readonly judged: number;
  readonly skipped: number;
  readonly leased: number;
}

export interface EndedRunQuery {
  readonly after: { readonly endedAtMs: number; readonly runId: string };
  readonly limit: number;
  readonly workflowId?: string;
  readonly agentId?: string;
  readonly status?: RunStatus;
}

export interface EndedRun extends AgentFields {
  readonly runId: string;
  readonly workspace?: string;
  readonly workflowId: string;
  readonly status: RunStatus;
  readonly endedAtMs: number;
}
