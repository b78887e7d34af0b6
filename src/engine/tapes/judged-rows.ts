import { setImmediate as nextTurn } from "node:timers/promises";
import { readJson, Unreadable } from "../../formats/json/exact-json.ts";
import { scrubLine } from "../../formats/tapes/scrub.ts";
import {
  AUTHORS,
  authorNameOf,
  nameAuthor,
  type RowPlace,
  rowOfAnnotation,
} from "../../formats/tapes/sidecar/judgment-rows.ts";
import type { CurrentRow } from "../../formats/tapes/sidecar/merge.ts";
import { pairBy, type RowLine, rowKey, stillCountingFirst } from "../../formats/tapes/sidecar/row-lines.ts";
import { printRow, type Row, readSidecarLine } from "../../formats/tapes/sidecar/sidecar.ts";
import { addTo } from "../../formats/text/collections.ts";
import { trimSpace } from "../../formats/text/lines.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AnnotationPlace, AnnotationRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Host } from "../host.ts";
import { blindness } from "../judgments/list-annotations.ts";
import { isMadeHere } from "../judgments/may-replace.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import { RowEvents } from "./row-events.ts";
import { Turns } from "./tape-lines.ts";

/**
 * A judgment of a run as a row of its sidecar: the line that it was pushed with, or one that is made of it. A line without an author is of its
 * pusher, so others see it with the author named, and can push it unchanged.
 */
export interface JudgedRow extends CurrentRow {
  /** The line with its author named. */
  readonly named: string;
  readonly record: AnnotationRecord;
  readonly id: string;
  readonly eventId: bigint;
}

export interface JudgedRows {
  /** All rows, oldest first. */
  readonly all: readonly JudgedRow[];
  /** Without rows that were written anew since: a file has the last version of a row only. */
  readonly current: readonly JudgedRow[];
}

type JudgedRun = Pick<RunIdentity, "runId" | "workflowId">;

export async function judgedRows(host: Host, caller: Caller, run: JudgedRun): Promise<JudgedRows> {
  const { runId } = run;
  const records = await recordsOf(host, runId);
  const hidden = await hiddenFrom(host, caller, runId, records);
  const placed = await placesOf(host, run, records);
  const all: JudgedRow[] = [];
  const turns = new Turns();
  for (const record of records) {
    const { row, line } = placed(record);
    const came = line ?? scrubLine(printRow(row), host.scrubber.scrubText);
    const author = { id: record.actor, kind: AUTHORS[record.actorKind] };
    const isNamed = row.author?.id === record.actor;
    const named = isNamed ? came : scrubLine(nameAuthor(came, row, author), host.scrubber.scrubText);
    const text = authorNameOf(row, caller.principal) === record.actor ? came : named;
    all.push({
      key: rowKey(row.id, text),
      text,
      came,
      named,
      state: record.state,
      ...(hidden.has(record.annotationId) ? { hidden: true } : {}),
      record,
      id: row.id,
      eventId: row.event_id,
    });
    if (line === undefined || !isNamed) await turns.after(text.length);
  }
  all.sort((a, b) => a.record.createdAtMs - b.record.createdAtMs || Number(a.eventId - b.eventId));
  const keyOf = new Map(all.map(({ record, key }) => [record.annotationId, key]));
  const current = all.filter(({ record, key }) => keyOf.get(record.supersededBy ?? "") !== key);
  return { all, current };
}

const PAGE = 500;

async function recordsOf({ store }: Host, runId: string): Promise<AnnotationRecord[]> {
  const records: AnnotationRecord[] = [];
  for (;;) {
    const page = await store.annotationsOfRun(runId, records.at(-1), PAGE);
    records.push(...page);
    if (isLastPage(page, PAGE)) return records;
    await nextTurn();
  }
}

/** The annotations that blind queues hide from the caller: they are hidden in files too. */
async function hiddenFrom(
  { store }: Host,
  caller: Caller,
  runId: string,
  records: readonly AnnotationRecord[],
): Promise<ReadonlySet<string>> {
  const blind = blindness(caller);
  const queued = records.flatMap(({ queueItemId, annotationId }) => (queueItemId === undefined ? [] : annotationId));
  const hidden = new Set(queued);
  if (blind.blindFor === undefined || queued.length === 0) return new Set();
  for (let after: AnnotationPlace | undefined; ; ) {
    const query = { runId, order: "oldest" as const, limit: PAGE, ...blind, ...(after && { after }) };
    const page = await store.listAnnotations(caller, query);
    for (const { annotationId } of page) hidden.delete(annotationId);
    after = page.at(-1);
    if (isLastPage(page, PAGE)) return hidden;
    await nextTurn();
  }
}

interface PlacedRow {
  readonly row: Row;
  /** The line that the row was pushed with. */
  readonly line?: string;
}

/** The row of each judgment. The events of judgments without a pushed row are found together. */
async function placesOf(
  { store }: Host,
  run: JudgedRun,
  records: readonly AnnotationRecord[],
): Promise<(record: AnnotationRecord) => PlacedRow> {
  const came = await rowsThatCame(records);
  const made = records.filter(({ annotationId }) => !came.has(annotationId));
  if (made.length === 0) return ({ annotationId }) => came.get(annotationId) as PlacedRow;
  const events = new RowEvents(store, run);
  const numbers = await events.numbersOf(new Set(made.flatMap(({ target }) => target.eventId ?? [])));
  const firsts = await events.find(new Set(numbers.values()));
  const first = await events.first();
  return (record) => {
    const { annotationId, target, supersedes } = record;
    const number = numbers.get(target.eventId ?? "");
    const only = number !== undefined && target.nodeId === undefined;
    const replaced = supersedes && { id: came.get(supersedes)?.row.id ?? supersedes, annotationId: supersedes };
    const isTarget = only && firsts.get(number)?.eventId === target.eventId;
    const place: RowPlace = { eventId: number ?? first, isTarget, ...(replaced && { supersedes: replaced }) };
    return came.get(annotationId) ?? { row: rowOfAnnotation(record, place) };
  };
}

async function rowsThatCame(records: readonly AnnotationRecord[]): Promise<ReadonlyMap<string, PlacedRow>> {
  const came = new Map<string, PlacedRow>();
  const turns = new Turns();
  for (const record of records) {
    for (const [annotationId, row] of entryOf(record)) came.set(annotationId, row);
    await turns.after(record.tapeRow?.length ?? 0);
  }
  return came;
}

function entryOf(record: AnnotationRecord): (readonly [string, PlacedRow])[] {
  const { annotationId, tapeRow: line } = record;
  const row = rowThatCame(record);
  return row === undefined || line === undefined ? [] : [[annotationId, { row, line }]];
}

/** The row that a judgment was pushed with. A judgment that was imported from another host may have any text as its line; one that is no row is ignored. */
export function rowThatCame({ tapeRow: line }: Pick<AnnotationRecord, "tapeRow">): Row | undefined {
  if (line === undefined || line.includes("\n") || line.endsWith("\r")) return undefined;
  try {
    const read = readSidecarLine(readJson(trimSpace(line)));
    return read.type === "annotation" ? read.row : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

type Pairs = Map<RowLine, JudgedRow>;

/**
 * Pairs the rows of a file with judgments of the same author: ids are chosen by the writers of files, so others may use them too. Judgments that were
 * made here come before imported ones.
 * @param pusher the author of rows that name none
 */
export function pairByAuthor(rows: readonly RowLine[], current: readonly JudgedRow[], pusher: string): Pairs {
  const rowsOf = new Map<string, RowLine[]>();
  for (const row of rows) addTo(rowsOf, authorNameOf(row.row, pusher), row);
  const judgedBy = new Map<string, JudgedRow[]>();
  for (const known of current) addTo(judgedBy, known.record.actor, known);
  const pairs: Pairs = new Map();
  for (const [author, own] of rowsOf) {
    const judged = judgedBy.get(author) ?? [];
    for (const madeHere of [true, false]) {
      const some = judged.filter(({ record }) => isMadeHere(record) === madeHere);
      pairSome(own, some, pairs);
    }
  }
  return pairs;
}

/** Pairs the remaining rows without regard to authors, for files that are older than pairing by author. */
export function pairLeftOver(rows: readonly RowLine[], current: readonly JudgedRow[], pairs: Pairs): Pairs {
  pairSome(rows, current, pairs);
  return pairs;
}

/** Pairs rows with the same text, with or without the author named; then rows of the same id, in order. */
function pairSome(rows: readonly RowLine[], judged: readonly JudgedRow[], pairs: Pairs): void {
  const known = stillCountingFirst(judged);
  pairBy({ rows, of: ({ text }) => text }, { known, of: ({ came }) => came }, pairs);
  pairBy({ rows, of: ({ text }) => text }, { known, of: ({ named }) => named }, pairs);
  pairBy({ rows, of: ({ row }) => row.id }, { known, of: ({ id }) => id }, pairs);
}
