import { FIRST_POSITION, passed } from "../read/queue-marks.ts";
import type * as T from "../schema/queue-tables.ts";

/** The order in which values are bound, and columns named. */
export const QUEUE_COLUMNS = [
  "queue_id",
  "tenant",
  "workspace",
  "name",
  "revision",
  "created_at",
  "blind",
  "body",
] as const satisfies readonly (keyof T.QueuesTable)[];

export const ITEM_COLUMNS = [
  "item_id",
  "tenant",
  "workspace",
  "queue_id",
  "run_id",
  "subject",
  "state",
  "position",
  "required",
  "revision",
  "created_at",
  "body",
] as const satisfies readonly (keyof T.QueueItemsTable)[];

export const REVIEW_COLUMNS = [
  "item_id",
  "reviewer",
  "queue_id",
  "status",
  "until_at",
  "at",
] as const satisfies readonly (keyof T.QueueReviewsTable)[];

/** What units write of review queues. `flatten-queues.ts` gives the values. */
export const QUEUE_WRITES = {
  putQueue: `insert into queues (${QUEUE_COLUMNS}) values (${QUEUE_COLUMNS.map(() => "?")})
    on conflict (queue_id) do update set name = excluded.name, revision = excluded.revision, blind = excluded.blind,
    body = excluded.body`,
  putItem: `insert into queue_items (${ITEM_COLUMNS}) values (${ITEM_COLUMNS.map(() => "?")})
    on conflict (item_id) do update set state = excluded.state, position = excluded.position,
    required = excluded.required, revision = excluded.revision, body = excluded.body`,
  // Passed over where the queue has the subject, and where the run was deleted since somebody found it.
  fillItem: `insert into queue_items (${ITEM_COLUMNS})
    select * from (select ${ITEM_COLUMNS.map((column) => `? as ${column}`)}) as given
    where exists (select 1 from runs where runs.run_id = given.run_id and runs.tenant = given.tenant)
    on conflict (queue_id, subject) do nothing`,
  deleteReviews: "delete from queue_reviews where item_id = ?",
  // Back to an item that a reviewer could get now, though all before the mark were passed; see `QueueMarksTable`.
  lowerMarks: `update queue_marks set position = ?2, item_id = ?3
    where queue_id = ?1 and (position, item_id) > (?2, ?3) and exists (select 1 from queue_items where item_id = ?3)
    and not ${passed("?3", "queue_marks.reviewer")}`,
  // On to the first item that the reviewer has yet to pass.
  raiseMark: `insert into queue_marks (queue_id, reviewer, position, item_id)
    select queue_id, ?2, position, item_id from queue_items as item
    where queue_id = ?1 and state = 'open' and (position, item_id) >= (
      select coalesce(max(position), ${FIRST_POSITION}), coalesce(max(item_id), '') from queue_marks
      where queue_id = ?1 and reviewer = ?2)
    and not ${passed("item.item_id", "?2")}
    order by position, item_id limit 1
    on conflict (queue_id, reviewer) do update set position = excluded.position, item_id = excluded.item_id`,
  insertReview: `insert into queue_reviews (${REVIEW_COLUMNS}) values (${REVIEW_COLUMNS.map(() => "?")})`,
} as const;

export const QUEUE_READS = {
  queueHead: "select tenant, revision from queues where queue_id = ?",
  queueByName: `select queue_id, revision from queues
    where tenant = ? and coalesce(workspace, '') = coalesce(?, '') and name = ?`,
  itemHead: "select tenant, queue_id, revision from queue_items where item_id = ?",
  itemBySubject: "select item_id, revision from queue_items where queue_id = ? and subject = ?",
} as const;
