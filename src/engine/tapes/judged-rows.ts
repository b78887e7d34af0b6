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
import { rowKey } from "../../formats/tapes/sidecar/row-lines.ts";
import { printRow, type Row, readSidecarLine } from "../../formats/tapes/sidecar/sidecar.ts";
import { trimSpace } from "../../formats/text/lines.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AnnotationPlace, AnnotationRecord } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { blindness } from "../judgments/list-annotations.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import { RowEvents } from "./row-events.ts";
import { Turns } from "./turns.ts";

/**
 * A judgment of a run as a row of its sidecar: the line that it came with, or the one that is made of it. A line that names no author is
 * of its pusher, so others are shown it with the author named: pushed by them it stays what it is.
 */
export interface JudgedRow extends CurrentRow {
  /** With the author named in any case. */
  readonly named: string;
  readonly record: AnnotationRecord;
  readonly id: string;
  readonly eventId: bigint;
}

export interface JudgedRows {
  /** All, oldest first. */
  readonly all: readonly JudgedRow[];
  /** Without those whose row was written anew since: of a row only what it says last stands in a file. */
  readonly standing: readonly JudgedRow[];
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
  const standing = all.filter(({ record, key }) => keyOf.get(record.supersededBy ?? "") !== key);
  return { all, standing };
}

const PAGE = 500;

async function recordsOf({ store }: Host, runId: string): Promise<AnnotationRecord[]> {
  const records: AnnotationRecord[] = [];
  for (;;) {
    const page = await store.annotationsOfRun(runId, records.at(-1), PAGE);
    records.push(...page);
    if (page.length < PAGE) return records;
    await nextTurn();
  }
}

/** What blind queues keep from the caller in lists, they keep out of files. */
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
    if (page.length < PAGE) return hidden;
    await nextTurn();
  }
}

interface PlacedRow {
  readonly row: Row;
  /** As it came. */
  readonly line?: string;
}

/** The row of each judgment. Where in the run those stand that came without one is looked up at once. */
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
    const place: RowPlace = {
      eventId: number ?? first,
      isTarget: only && firsts.get(number)?.eventId === target.eventId,
      ...(supersedes === undefined
        ? {}
        : { supersedes: { id: came.get(supersedes)?.row.id ?? supersedes, annotationId: supersedes } }),
    };
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

/**
 * The row that a judgment was pushed with. What came from another host with its line may bring any text as that; one that is no row
 * of a file is left out of account.
 */
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
