import { runDeletes } from "../read/delete-run.ts";
import { textRow } from "../rows/annotation-rows.ts";
import { tallyChanges } from "../rows/feedback-tallies.ts";
import { auditLog } from "../schema/audit.ts";
import { annotationChanges, annotationTexts, runFeedback, runLabels } from "../schema/judgments.ts";
import { reviewRounds } from "../schema/reviews.ts";
import { runEvents, runTombstones, tenantRuns } from "../schema/runs.ts";
import { adding, replacing } from "../schema/table.ts";
import type { PreparedUnit } from "../units/prepare-unit.ts";
import type { Accepted } from "./apply-unit.ts";
import type { LockedRows } from "./current-rows.ts";
import { prepared } from "./prepared.ts";
import type { RunCounting } from "./run-counts.ts";
import { insertInto, type Statement, sorted, statement } from "./statements.ts";
import { writeGateRows } from "./write-gate-rows.ts";
import { writeQueueRows } from "./write-queue-rows.ts";
import { writeSideRows } from "./write-side-rows.ts";

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
const DELETE_REVIEWS = prepared("delete reviews", "delete from review_sessions where session_id = any($1)");

/** A unit that deletes is a batch of its own, so nothing of it is written too. */
function writeRounds(units: readonly PreparedUnit[]): Statement[] {
  const writes = units.flatMap(({ unit }) => unit.reviews ?? []);
  const rounds = writes.flatMap((write) =>
    write.type === "delete"
      ? []
      : write.rounds.map((round) => reviewRounds.toRow({ ...round, tenant: write.session.tenant })),
  );
  const gone = writes.flatMap((write) => (write.type === "delete" ? [write.sessionId] : []));
  return [...insertRounds(rounds), ...statement(DELETE_ROUNDS, gone), ...statement(DELETE_REVIEWS, gone)];
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
