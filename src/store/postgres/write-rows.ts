import { runDeletes } from "../read/delete-run.ts";
import { textRow } from "../rows/annotation-rows.ts";
import { tallyChanges } from "../rows/feedback-tallies.ts";
import { FIRST_POSITION, passed } from "../rows/queue-rows.ts";
import { auditLog } from "../schema/audit.ts";
import { annotationChanges, annotationTexts, runFeedback, runLabels } from "../schema/judgments.ts";
import { type QueueItemsTable, type QueueReviewsTable, queueReviews } from "../schema/queues.ts";
import { reviewRounds } from "../schema/reviews.ts";
import { runEvents, runTombstones, tenantRuns } from "../schema/runs.ts";
import { adding, replacing } from "../schema/table.ts";
import type { PreparedUnit } from "../units/prepare-unit.ts";
import type { Accepted } from "./apply-unit.ts";
import type { LockedRows } from "./current-rows.ts";
import type { RunCounting } from "./run-counts.ts";
import { insertInto, newest, prepared, type Statement, sorted, statement } from "./statements.ts";
import { writeGateRows, writeSideRows } from "./write-side-rows.ts";

/**
 * The statements that make a batch true, in the order in which rows are locked everywhere. A plain insert that finds
 * its key taken was overtaken by another process: it fails the transaction, and the batch is retried.
 */
export function writeRows(current: LockedRows, accepted: Accepted, counting: RunCounting): Statement[] {
  const { units } = accepted;
  return [
    ...writeActiveRuns(current, counting),
    ...current.heads.statements(),
    // Updates first: a run that ends makes room in its dedup scope for one that begins.
    ...current.runs.statements((row) => [row.dedup_scope ?? "", row.tenant, row.workflow_id, row.run_id]),
    ...current.families.statements(),
    ...current.effects.statements(),
    ...current.outcomes.statements(),
    ...current.externalEvents.statements(),
    ...writeAnnotationRows(current, accepted),
    ...writeQueueRows(current),
    ...current.tapes.statements(),
    ...current.sidecars.statements(),
    ...current.reviews.statements(),
    ...writeRounds(units),
    ...current.documents.statements(),
    ...deleteDocuments(units),
    ...insertEvents(units.flatMap((unit) => unit.runs.flatMap((run) => run.events))),
    ...insertAudit(accepted.audit),
    ...writeGateRows(units),
    ...writeSideRows(units.map(({ unit }) => unit)),
    ...deleteRuns(units),
  ];
}

const insertEvents = insertInto(runEvents);
const insertAudit = insertInto(auditLog);

const addActiveRuns = insertInto(tenantRuns, adding(tenantRuns));

/** The first write of a batch: a host that waits here for another one holds nothing that the other one still needs. */
function writeActiveRuns({ activeChanges }: LockedRows, { shard }: RunCounting): Statement[] {
  const changed = [...activeChanges].filter(([, active]) => active !== 0);
  const rows = changed.map(([tenant, active]) => ({ tenant, shard, active }));
  return addActiveRuns(sorted(rows, (row) => [row.tenant]));
}

const insertTexts = insertInto(annotationTexts);
/** A change that happens again, as only imports can, moves to its new place. */
const putChanges = insertInto(
  annotationChanges,
  replacing(annotationChanges, { by: ["tenant", "annotation_id", "change"], columns: ["seq", "n"] }),
);
const addFeedback = insertInto(runFeedback, adding(runFeedback));
const addLabels = insertInto(runLabels, adding(runLabels));

/** Annotations, then what derives from them: words, history and tallies. */
function writeAnnotationRows({ annotations }: LockedRows, { units, history }: Accepted): Statement[] {
  const writes = annotations.statements();
  if (writes.length === 0) return [];
  const { feedback, labels } = tallyChanges(units.flatMap((unit) => unit.annotations));
  const texts = annotations.written(false).flatMap((row) => textRow(row) ?? []);
  return [
    ...writes,
    ...insertTexts(sorted(texts, (row) => [row.tenant, row.annotation_id])),
    ...putChanges(history),
    ...addFeedback(feedback),
    ...addLabels(labels),
  ];
}

const insertRounds = insertInto(reviewRounds);
const DELETE_ROUNDS = prepared("delete review rounds", "delete from review_rounds where session_id = any($1)");
const DELETE_SESSIONS = prepared("delete reviews", "delete from review_sessions where session_id = any($1)");

/** A unit that deletes is a batch of its own, so nothing of it is written too. */
function writeRounds(units: readonly PreparedUnit[]): Statement[] {
  const writes = units.flatMap(({ unit }) => unit.reviews ?? []);
  const rounds = writes.flatMap((write) =>
    write.type === "delete"
      ? []
      : write.rounds.map((round) => reviewRounds.toRow({ ...round, tenant: write.session.tenant })),
  );
  const gone = writes.flatMap((write) => (write.type === "delete" ? [write.sessionId] : []));
  return [...insertRounds(rounds), ...statement(DELETE_ROUNDS, gone), ...statement(DELETE_SESSIONS, gone)];
}

const DELETE_DOCUMENT = prepared(
  "delete document",
  "delete from documents where tenant = $1 and kind = $2 and doc_key = $3",
);

function deleteDocuments(units: readonly PreparedUnit[]): Statement[] {
  return units
    .flatMap(({ unit }) => unit.documents ?? [])
    .flatMap((write) =>
      write.type === "delete" ? statement(DELETE_DOCUMENT, write.id.tenant, write.id.kind, write.id.key) : [],
    );
}

const DELETES = Object.entries(runDeletes({ run: "$1::text", tenant: "$2::text", last: "chr(1114111)" })).map(
  ([name, text]) => prepared(`run: ${name}`, text),
);
const insertTombstones = insertInto(runTombstones, "on conflict (run_id) do nothing");

/** The rows of a run were locked with the run: every write about a run locks it first. */
function deleteRuns(units: readonly PreparedUnit[]): Statement[] {
  return units.flatMap(({ unit: { tenant, deletions = [] } }) => [
    // One table after the other for all runs, so that tables are always locked in the same order.
    ...DELETES.flatMap((one) => deletions.flatMap(({ runId }) => statement(one, runId, tenant))),
    ...insertTombstones(deletions.map(runTombstones.toRow)),
  ]);
}

const DELETE_REVIEWS = prepared("delete reviews", "delete from queue_reviews where item_id = any($1)");
const insertReviews = insertInto(queueReviews);

/** Queues, then items, then reviews: the order in which they are locked. */
function writeQueueRows({ queues, items, itemReviews }: LockedRows): Statement[] {
  const changed = items.written(true);
  const written = [...changed, ...items.written(false)];
  const reviews = written.flatMap(({ item_id }) => itemReviews.get(item_id) ?? []);
  return [
    ...queues.statements(),
    ...items.statements(),
    ...statement(
      DELETE_REVIEWS,
      changed.map(({ item_id }) => item_id),
    ),
    ...insertReviews(sorted(reviews, ({ item_id, reviewer }) => [item_id, reviewer])),
    ...moveMarks(written, reviews),
  ];
}

const GIVEN_MARKS = "queue_marks as mark on mark.queue_id = given.queue_id";

/** To the first of the items, where there are several, that a reviewer could get now though all before it were passed. */
const LOWER_MARKS = prepared(
  "lower marks",
  `update queue_marks set position = low.position, item_id = low.item_id
  from (
    select distinct on (mark.queue_id, mark.reviewer) mark.queue_id, mark.reviewer, given.position, given.item_id
    from unnest($1::text[], $2::bigint[], $3::text[]) as given(queue_id, position, item_id)
    join ${GIVEN_MARKS} and (mark.position, mark.item_id) > (given.position, given.item_id)
    where not ${passed("given.item_id", "mark.reviewer")}
    order by mark.queue_id, mark.reviewer, given.position, given.item_id
  ) as low
  where queue_marks.queue_id = low.queue_id and queue_marks.reviewer = low.reviewer`,
);

/** On to the first item that the reviewer has yet to pass. */
const RAISE_MARKS = prepared(
  "raise marks",
  `insert into queue_marks (queue_id, reviewer, position, item_id)
  select given.queue_id, given.reviewer, next.position, next.item_id
  from unnest($1::text[], $2::text[]) as given(queue_id, reviewer)
  left join ${GIVEN_MARKS} and mark.reviewer = given.reviewer
  cross join lateral (
    select item.position, item.item_id from queue_items as item
    where item.queue_id = given.queue_id and item.state = 'open'
      and (item.position, item.item_id) >= (coalesce(mark.position, ${FIRST_POSITION}), coalesce(mark.item_id, ''))
      and not ${passed("item.item_id", "given.reviewer")}
    order by item.position, item.item_id limit 1
  ) as next
  on conflict (queue_id, reviewer) do update set position = excluded.position, item_id = excluded.item_id`,
);

/** No other process moves the marks of these queues now: every write of an item has locked its queue. */
function moveMarks(written: readonly QueueItemsTable[], reviews: readonly QueueReviewsTable[]): Statement[] {
  const open = written.filter(({ state }) => state === "open");
  const column = <R, K extends keyof R>(rows: readonly R[], name: K) => rows.map((row) => row[name]);
  const passes = newest(
    reviews.filter(({ status }) => status !== "leased"),
    ({ queue_id, reviewer }) => [queue_id, reviewer],
  );
  return [
    ...statement(LOWER_MARKS, column(open, "queue_id"), column(open, "position"), column(open, "item_id")),
    ...statement(RAISE_MARKS, column(passes, "queue_id"), column(passes, "reviewer")),
  ];
}
