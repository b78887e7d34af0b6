import { setImmediate as nextTurn } from "node:timers/promises";
import { type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { AnnotationPlace, AnnotationQuery, AnnotationRecord } from "../port/judgments.ts";
import { type RowPage, rowPage } from "../port/large-rows.ts";
import { searchWords } from "../port/search-words.ts";
import { ANNOTATION_TEXT_BYTES, agentsIn, FIRST_PLACE, isSeveral, toAnnotation } from "../rows/annotation-rows.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { AnnotationsTable, RunFeedbackTable, RunLabelsTable } from "../schema/judgments.ts";
import type { Tables } from "../schema/tables.ts";
import { inBatches, visibleTo } from "./conditions.ts";
import { fittingPage } from "./fitting.ts";

const TEXT_BYTES = sql.raw<number>(ANNOTATION_TEXT_BYTES);

export async function readAnnotation(
  db: Kysely<Tables>,
  visible: Visibility,
  annotationId: string,
): Promise<AnnotationRecord | undefined> {
  const row = await visibleAnnotations(db, visible).where("annotation_id", "=", annotationId).executeTakeFirst();
  return row && toAnnotation(row);
}

export async function annotationsById(
  db: Kysely<Tables>,
  tenant: string,
  annotationIds: readonly string[],
): Promise<AnnotationRecord[]> {
  const rows = await inBatches([...new Set(annotationIds)], (ids) =>
    visibleAnnotations(db, { tenant }).where("annotation_id", "in", ids).execute(),
  );
  return rows.map(toAnnotation);
}

/** The ids of those that are live and were made here, in no order. */
export async function liveAnnotations(
  db: Kysely<Tables>,
  tenant: string,
  annotationIds: readonly string[],
): Promise<string[]> {
  const rows = await inBatches([...new Set(annotationIds)], (ids) =>
    db
      .selectFrom("annotations")
      .select("annotation_id")
      .where("tenant", "=", tenant)
      .where("annotation_id", "in", ids)
      .where("state", "=", "live")
      .where("imported_by", "is", null)
      .execute(),
  );
  return rows.map(({ annotation_id }) => annotation_id);
}

/** What the texts of these take that the tenant has. */
export async function annotationBytes(
  db: Kysely<Tables>,
  tenant: string,
  annotationIds: readonly string[],
): Promise<number> {
  const rows = await inBatches([...new Set(annotationIds)], (ids) =>
    db
      .selectFrom("annotations")
      .select(TEXT_BYTES.as("bytes"))
      .where("tenant", "=", tenant)
      .where("annotation_id", "in", ids)
      .execute(),
  );
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Without those that have come down to nothing. */
export async function feedbackRows(
  db: Kysely<Tables>,
  runId: string,
): Promise<{ feedback: RunFeedbackTable[]; labels: RunLabelsTable[] }> {
  const tenant = db.selectFrom("runs").select("tenant").where("run_id", "=", runId);
  const feedback = await db
    .selectFrom("run_feedback")
    .selectAll()
    .where("tenant", "=", tenant)
    .where("run_id", "=", runId)
    .where("annotations", "<>", 0)
    .orderBy("node_id")
    .orderBy("actor_kind")
    .execute();
  const labels = await db
    .selectFrom("run_labels")
    .selectAll()
    .where("tenant", "=", tenant)
    .where("run_id", "=", runId)
    .where("n", "<>", 0)
    .orderBy("node_id")
    .orderBy("actor_kind")
    .orderBy("label")
    .execute();
  return { feedback, labels };
}

export async function listAnnotations(
  db: Kysely<Tables>,
  visible: Visibility,
  query: AnnotationQuery,
): Promise<RowPage<AnnotationRecord>> {
  if (query.agentId === undefined) return annotationPage(db, visible, query);
  const pages: RowPage<AnnotationRecord>[] = [];
  for (const column of [query.agentId, ...(await columnsWith(db, visible, query.agentId))]) {
    if (pages.length > 0) await nextTurn();
    pages.push(await annotationPage(db, visible, { ...query, agentId: column }));
  }
  const [first = []] = pages;
  return pages.length === 1 ? first : mergedPage(pages, query);
}

/** One page of several in the same order. It ends with the first of them that was cut: others of that page may come before all that follows. */
function mergedPage(
  pages: readonly RowPage<AnnotationRecord>[],
  { order, limit }: AnnotationQuery,
): RowPage<AnnotationRecord> {
  const ends = new Set(pages.flatMap((page) => (page.cut ? page.slice(-1) : [])));
  const all = inOrder(pages.flat(), order);
  const end = all.findIndex((record) => ends.has(record));
  return rowPage(all.slice(0, end < 0 ? limit : Math.min(limit, end + 1)), end >= 0);
}

const STEPS_AT_ONCE = 100;

/**
 * The values of the agent column that hold several agents, the asked one among them. Found from one value to the next along
 * the index: as many steps as there are values, however many annotations they have.
 */
async function columnsWith(db: Kysely<Tables>, { tenant }: Visibility, agentId: string): Promise<string[]> {
  const found: string[] = [];
  let steps = 0;
  for (let last = ""; ; ) {
    const row = await db
      .selectFrom("annotations")
      .select("agent_id")
      .where("tenant", "=", tenant)
      .where("agent_id", ">", last)
      .where(isSeveral(sql`agent_id`))
      .orderBy("agent_id")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined || row.agent_id === null) return found;
    last = row.agent_id;
    if (agentsIn(last).includes(agentId)) found.push(last);
    // In SQLite each step is taken in this process: others have their turn now and then.
    if (++steps % STEPS_AT_ONCE === 0) await nextTurn();
  }
}

function inOrder(records: readonly AnnotationRecord[], order: AnnotationQuery["order"]): AnnotationRecord[] {
  const sign = order === "oldest" ? 1 : -1;
  const compare = (a: AnnotationRecord, b: AnnotationRecord) =>
    a.createdAtMs - b.createdAtMs || (a.annotationId < b.annotationId ? -1 : 1);
  return [...records].sort((a, b) => sign * compare(a, b));
}

/** With `agentId` as the whole value of the column. */
async function annotationPage(
  db: Kysely<Tables>,
  visible: Visibility,
  query: AnnotationQuery,
): Promise<RowPage<AnnotationRecord>> {
  const { after, order, words, blindFor } = query;
  const search = await searchFor(db, words);
  const direction = order === "oldest" ? "asc" : "desc";
  const found = db
    .selectFrom(search.from.as("annotations"))
    .where(visibleTo(visible))
    .where((one) => one.and(conditions(one, query)))
    .$if(after !== undefined, (found) => found.where((one) => comesAfter(one, after ?? FIRST_PLACE, order)))
    .where(search.where)
    .$if(blindFor !== undefined, (found) => found.where(notBlindFor(blindFor ?? "")))
    .orderBy("created_at", direction)
    .orderBy("annotation_id", direction);
  return fittingPage(query.limit, {
    sizes: () => found.select(TEXT_BYTES.as("bytes")).limit(query.limit).execute(),
    rows: async (limit) => (await found.selectAll().limit(limit).execute()).map(toAnnotation),
  });
}

type Annotations = ExpressionBuilder<Tables, "annotations">;

/** Conditions of partial indexes are literals: SQLite does not use a partial index for parameters. */
function conditions(one: Annotations, query: AnnotationQuery): Expression<SqlBool>[] {
  const { runId, workflowId, agentId, nodeId, kind, label, actor, actorKind, state, flag, ratingMax } = query;
  return [
    ...(query.annotationId === undefined ? [] : [one("annotation_id", "=", query.annotationId)]),
    ...(runId === undefined ? [] : [one("run_id", "=", runId)]),
    ...(workflowId === undefined ? [] : [one("workflow_id", "=", workflowId)]),
    ...(agentId === undefined ? [] : [one("agent_id", "=", agentId)]),
    ...(nodeId === undefined ? [] : [one("about_node", "=", nodeId)]),
    ...(kind === undefined ? [] : [one("kind", "=", kind)]),
    ...(label === undefined ? [] : [sql<SqlBool>`kind = 'label'`, one("label", "=", label)]),
    ...(actor === undefined ? [] : [one("actor", "=", actor)]),
    ...(actorKind === undefined ? [] : [one("actor_kind", "=", actorKind)]),
    ...(state === undefined ? [] : [one("state", "=", state)]),
    ...(state === undefined || state === "live" ? [] : [sql<SqlBool>`state <> 'live'`]),
    ...(flag === undefined ? [] : [one("flag_status", "=", flag), sql<SqlBool>`state = 'live'`]),
    ...(ratingMax === undefined ? [] : [sql<SqlBool>`kind = 'rating'`, one("rating", "<=", ratingMax)]),
    ...(query.fromMs === undefined ? [] : [one("created_at", ">=", query.fromMs)]),
    ...(query.toMs === undefined ? [] : [one("created_at", "<", query.toMs)]),
  ];
}

function comesAfter(
  one: Annotations,
  { createdAtMs, annotationId }: AnnotationPlace,
  order: AnnotationQuery["order"],
): Expression<SqlBool> {
  const beyond = sql.raw(order === "oldest" ? ">" : "<");
  return sql<SqlBool>`(${one.ref("created_at")}, ${one.ref("annotation_id")}) ${beyond} (${createdAtMs}, ${annotationId})`;
}

function visibleAnnotations(db: Kysely<Tables>, visible: Visibility) {
  return db.selectFrom("annotations").selectAll().where(visibleTo(visible));
}

/**
 * Leaves out judgments by others of an open item of a blind queue that this reviewer has not judged. The
 * item is looked up by its id: most annotations were given for none.
 */
function notBlindFor(reviewer: string): RawBuilder<SqlBool> {
  return sql`(queue_item_id is null or actor = ${reviewer} or not exists (
    select 1 from queue_items as item join queues as queue on queue.queue_id = item.queue_id
    where item.item_id = annotations.queue_item_id and item.state = 'open' and queue.blind = 1 and not exists (
      select 1 from queue_reviews as review
      where review.item_id = item.item_id and review.reviewer = ${reviewer} and review.status = 'judged')))`;
}

/** Where to look, under the name `annotations`, and what must hold there. */
export interface Search {
  readonly from: RawBuilder<AnnotationsTable>;
  readonly where: RawBuilder<SqlBool>;
}

const EVERYWHERE = sql<AnnotationsTable>`annotations`;

/**
 * Annotations of whose text some word begins with each of these. The query is reduced to letters and digits first,
 * so nothing in it has a meaning to the database. A query without a word finds nothing.
 */
export async function searchFor(db: Kysely<Tables>, asked: readonly string[] | undefined, few = FEW): Promise<Search> {
  if (asked === undefined) return { from: EVERYWHERE, where: sql`true` };
  const words = searchWords(...asked);
  if (words.length === 0) return { from: EVERYWHERE, where: sql`false` };
  if (dialectOf(db) === "postgres") {
    const beginnings = words.map((word) => `'${word}':*`).join(" & ");
    const where = sql<SqlBool>`(tenant, annotation_id) in (select tenant, annotation_id from annotation_texts
      where lexemes @@ ${beginnings}::tsquery)`;
    return { from: EVERYWHERE, where };
  }
  return inSqlite(db, words, few);
}

/** So many are looked up one by one and sorted. */
const FEW = 10_000;

/**
 * SQLite does not know how common a word is, so it is asked first. Where there are few such texts, they are looked up; where
 * there are many, a walk along an index in the order of the list meets the next one soon.
 */
async function inSqlite(db: Kysely<Tables>, words: readonly string[], few: number): Promise<Search> {
  const beginnings = words.map((word) => `"${word}"*`).join(" AND ");
  const matches = sql`select rowid from annotation_words where annotation_words match ${beginnings}`;
  const { rows } = await sql<{ n: number }>`select count(*) as n from (${matches} limit ${few + 1})`.execute(db);
  if ((rows[0]?.n ?? 0) <= few) {
    // With a limit, so that it is not made one with the rest of the statement and done in another order.
    const from = sql<AnnotationsTable>`(select found.* from annotation_texts as text cross join annotations as found
      where text.text_number in (${matches}) and found.tenant = text.tenant
      and found.annotation_id = text.annotation_id limit -1)`;
    return { from, where: sql`true` };
  }
  const each = words.map((word) => sql`instr(' ' || text.words, ${` ${word}`}) > 0`);
  const where = sql<SqlBool>`exists (select 1 from annotation_texts as text where text.tenant = annotations.tenant
    and text.annotation_id = annotations.annotation_id and ${sql.join(each, sql` and `)})`;
  return { from: EVERYWHERE, where };
}
