/** The tables of review queues, and of what is left of runs; see `tables.ts`. */

/** Unique by name in (tenant, workspace), where no workspace is one of its own. */
export interface QueuesTable {
  queue_id: string; // primary key
  tenant: string;
  workspace: string | null;
  name: string;
  revision: number;
  created_at: number;
  blind: number;
  /** JSON, the engine's. */
  body: string;
}

/** Unique (queue_id, subject). */
export interface QueueItemsTable {
  item_id: string; // primary key
  tenant: string;
  workspace: string | null;
  queue_id: string;
  run_id: string;
  subject: string;
  state: string;
  position: number;
  required: number;
  revision: number;
  created_at: number;
  /** JSON, the engine's. */
  body: string;
}

/** What reviewers have to do with an item, replaced with every write of it. Primary key (item_id, reviewer). */
export interface QueueReviewsTable {
  item_id: string;
  reviewer: string;
  queue_id: string;
  status: string;
  until_at: number | null;
  at: number;
}

/**
 * Every open item before this place was judged or skipped by the reviewer, so that nobody has to look at those again.
 * Primary key (queue_id, reviewer).
 */
export interface QueueMarksTable {
  queue_id: string;
  reviewer: string;
  position: number;
  item_id: string;
}

/** That there was a run, and nothing of what was in it. */
export interface RunTombstonesTable {
  run_id: string; // primary key
  tenant: string;
  workspace: string | null;
  workflow_id: string;
  version: number;
  reason: string;
  at: number;
}
