import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { QueueItemState } from "../../protocol/queues/api.ts";
import type {
  FreeItemQuery,
  QueueItemQuery,
  QueueItemRecord,
  QueueRecord,
  ReviewerProgress,
} from "../port/judgments.ts";
import type { RowPage } from "../port/large-rows.ts";
import { toItem } from "../rows/queue-rows.ts";
import { type QueueItemsTable, type QueueReviewsTable, queues } from "../schema/queues.ts";
import type { Tables } from "../schema/tables.ts";
import { inBatches, visibleTo } from "./conditions.ts";
import { fittingPage } from "./fitting.ts";

const BODY_BYTES = sql<number>`octet_length(body)`.as("bytes");

export async function readQueue(
  db: Kysely<Tables>,
  visible: Visibility,
  queueId: string,
): Promise<QueueRecord | undefined> {
  const row = await visibleQueues(db, visible).where("queue_id", "=", queueId).executeTakeFirst();
  return row && queues.toRecord(row);
}

export async function listQueues(
  db: Kysely<Tables>,
  visible: Visibility,
  { limit, before }: { readonly limit: number; readonly before?: string },
): Promise<RowPage<QueueRecord>> {
  const found = queuesSeen(db, visible)
    .$if(before !== undefined, (queues) => queues.where("queue_id", "<", before ?? ""))
    .orderBy("queue_id", "desc");
  return fittingPage(limit, {
    sizes: () => found.select(BODY_BYTES).limit(limit).execute(),
    rows: async (most) => (await found.selectAll().limit(most).execute()).map(queues.toRecord),
  });
}

export async function readQueueItem(
  db: Kysely<Tables>,
  visible: Visibility,
  queueId: string,
  itemId: string,
): Promise<QueueItemRecord | undefined> {
  const rows = await visibleItems(db, visible, queueId).where("item_id", "=", itemId).execute();
  return (await withReviews(db, rows))[0];
}

export async function queueItemsById(
  db: Kysely<Tables>,
  tenant: string,
  itemIds: readonly string[],
): Promise<QueueItemRecord[]> {
  const rows = await inBatches(itemIds, (ids) =>
    db.selectFrom("queue_items").selectAll().where("item_id", "in", ids).where("tenant", "=", tenant).execute(),
  );
  return withReviews(db, rows);
}

export async function listQueueItems(
  db: Kysely<Tables>,
  visible: Visibility,
  query: QueueItemQuery,
): Promise<RowPage<QueueItemRecord>> {
  const { queueId, limit, after, state, reviewer, reviewStatus } = query;
  const reviewed = db
    .selectFrom("queue_reviews")
    .select("item_id")
    .where("queue_id", "=", queueId)
    .$if(reviewer !== undefined, (reviews) => reviews.where("reviewer", "=", reviewer ?? ""))
    .$if(reviewStatus !== undefined, (reviews) => reviews.where("status", "=", reviewStatus ?? "leased"));
  const found = itemsSeen(db, visible, queueId)
    .$if(state !== undefined, (items) => items.where("state", "=", state ?? "open"))
    .$if(after !== undefined, (items) =>
      items.where(sql<boolean>`(position, item_id) > (${after?.position}, ${after?.itemId})`),
    )
    .$if(reviewer !== undefined || reviewStatus !== undefined, (items) => items.where("item_id", "in", reviewed))
    .orderBy("position")
    .orderBy("item_id");
  return fittingPage(limit, {
    sizes: () => found.select(BODY_BYTES).limit(limit).execute(),
    rows: async (most) => withReviews(db, await found.selectAll().limit(most).execute()),
  });
}

export async function freeQueueItems(
  db: Kysely<Tables>,
  visible: Visibility,
  { queueId, reviewer, nowMs, limit }: FreeItemQuery,
): Promise<QueueItemRecord[]> {
  // Items that the reviewer has judged or skipped are not read again, however many there are.
  const mark = await db
    .selectFrom("queue_marks")
    .select(["position", "item_id"])
    .where("queue_id", "=", queueId)
    .where("reviewer", "=", reviewer)
    .executeTakeFirst();
  const review = sql`from queue_reviews as review where review.item_id = queue_items.item_id`;
  const held = sql`(review.status = 'leased' and review.until_at > ${nowMs})`;
  const rows = await visibleItems(db, visible, queueId)
    .where("state", "=", "open")
    .$if(mark !== undefined, (items) =>
      items.where(sql<boolean>`(position, item_id) >= (${mark?.position}, ${mark?.item_id})`),
    )
    .where(
      sql<boolean>`not exists (select 1 ${review} and review.reviewer = ${reviewer}
        and (review.status in ('judged', 'skipped') or ${held}))`,
    )
    .where(sql<boolean>`(select count(*) ${review} and (review.status = 'judged' or ${held})) < required`)
    .orderBy("position")
    .orderBy("item_id")
    .limit(limit)
    .execute();
  return withReviews(db, rows);
}

export async function queueSubjects(
  db: Kysely<Tables>,
  queueId: string,
  subjects: readonly string[],
): Promise<string[]> {
  if (subjects.length === 0) return [];
  const rows = await db
    .selectFrom("queue_items")
    .select("subject")
    .where("queue_id", "=", queueId)
    .where("subject", "in", [...subjects])
    .execute();
  return rows.map(({ subject }) => subject);
}

export async function queuesAfter(db: Kysely<Tables>, queueId: string, limit: number): Promise<QueueRecord[]> {
  const rows = await db
    .selectFrom("queues")
    .selectAll()
    .where("queue_id", ">", queueId)
    .orderBy("queue_id")
    .limit(limit)
    .execute();
  return rows.map(queues.toRecord);
}

export async function queueProgress(db: Kysely<Tables>, queueId: string): Promise<ReviewerProgress[]> {
  const rows = await db
    .selectFrom("queue_reviews")
    .select(["reviewer", "status", sql<number | string>`count(*)`.as("items")])
    .where("queue_id", "=", queueId)
    .groupBy(["reviewer", "status"])
    .orderBy("reviewer")
    .execute();
  const progress = new Map<string, ReviewerProgress>();
  for (const { reviewer, status, items } of rows) {
    const before = progress.get(reviewer) ?? { reviewer, judged: 0, skipped: 0, leased: 0 };
    progress.set(reviewer, { ...before, [status]: Number(items) });
  }
  return [...progress.values()];
}

export async function countQueueItems(
  db: Kysely<Tables>,
  queueId: string,
): Promise<Partial<Record<QueueItemState, number>>> {
  const rows = await db
    .selectFrom("queue_items")
    .select(["state", sql<number | string>`count(*)`.as("items")])
    .where("queue_id", "=", queueId)
    .groupBy("state")
    .execute();
  return Object.fromEntries(rows.map(({ state, items }) => [state, Number(items)]));
}

/**
 * Read after the items. A write in between leaves the item with reviews that are newer than it is, and a caller who decides
 * by them is refused for the revision.
 */
async function withReviews(db: Kysely<Tables>, rows: readonly QueueItemsTable[]): Promise<QueueItemRecord[]> {
  const byItem = new Map<string, QueueReviewsTable[]>(rows.map(({ item_id }) => [item_id, []]));
  const reviews = await inBatches([...byItem.keys()], (ids) =>
    db
      .selectFrom("queue_reviews")
      .selectAll()
      .where("item_id", "in", ids)
      .orderBy("item_id")
      .orderBy("reviewer")
      .execute(),
  );
  for (const review of reviews) byItem.get(review.item_id)?.push(review);
  return rows.map((row) => toItem(row, byItem.get(row.item_id) ?? []));
}

function visibleQueues(db: Kysely<Tables>, visible: Visibility) {
  return queuesSeen(db, visible).selectAll();
}

function queuesSeen(db: Kysely<Tables>, visible: Visibility) {
  return db.selectFrom("queues").where(visibleTo(visible));
}

function visibleItems(db: Kysely<Tables>, visible: Visibility, queueId: string) {
  return itemsSeen(db, visible, queueId).selectAll();
}

function itemsSeen(db: Kysely<Tables>, visible: Visibility, queueId: string) {
  return db.selectFrom("queue_items").where("queue_id", "=", queueId).where(visibleTo(visible));
}
