import { compareSeq } from "../seq-set.ts";
import type { Row, RowKind } from "../sidecar/sidecar.ts";
import type { TapeRecord } from "../tape.ts";

/** What the block shows of a row. */
export interface ShownRow {
  readonly kind: RowKind;
  readonly id: string;
  readonly evidence: string;
}

/** What the block shows of an event. */
export interface ShownEvent {
  readonly seq: bigint;
  readonly virtual_time_ms: bigint;
  readonly kind: TapeRecord["kind"]["kind"];
}

export function shownRow({ kind, id, evidence }: Row): ShownRow {
  return {
    kind,
    id: id === "" ? "(no id)" : id,
    evidence: evidence === null || evidence === "" ? "(no evidence)" : firstLine(evidence),
  };
}

/** A lone CR ends no line. */
export function firstLine(text: string): string {
  const end = text.indexOf("\n");
  if (end < 0) return text;
  return text.slice(0, text[end - 1] === "\r" ? end - 1 : end);
}

export function shownEvent({ seq, virtual_time_ms, kind }: TapeRecord): ShownEvent {
  return { seq, virtual_time_ms, kind: kind.kind };
}

/** Formatting of the parts of a line; terminals add colours. */
export interface LineStyle {
  heading(text: string): string;
  event(text: string): string;
  kind(kind: RowKind): string;
  /** Text that others wrote. */
  quoted(text: string): string;
}

const PLAIN: LineStyle = {
  heading: (text) => text,
  event: (text) => text,
  kind: (kind) => kind,
  quoted: (text) => text,
};

export interface RunBlock {
  /** Of the sidecar, as it was given. */
  readonly path: string;
  /** All there are, also those on events that the tape does not have. */
  readonly annotations: number;
  readonly events: readonly ShownEvent[];
  /** By event, in the order of the file. */
  readonly rows: ReadonlyMap<bigint, readonly ShownRow[]>;
}

/**
 * The run-summary block, line by line without their ends: the events that have annotations, by their number, each with its
 * annotations. Without a style of its own it is exact, and scripts compare it.
 */
export function* blockLines(
  { path, annotations, events, rows }: RunBlock,
  style: LineStyle = PLAIN,
): Generator<string> {
  yield style.heading(`[annotations] loaded ${annotations} annotation(s) from ${style.quoted(path)}`);
  for (const { seq, virtual_time_ms, kind } of annotatedEvents(events, rows)) {
    yield style.event(`  event seq=${seq} virtual_time_ms=${virtual_time_ms} kind=${kind}`);
    for (const row of rows.get(seq) ?? []) {
      yield `    [${style.kind(row.kind)}] ${style.quoted(row.id)}: ${style.quoted(row.evidence)}`;
    }
  }
}

/** By their numbers; those that share one stay in the order of the tape. */
export function annotatedEvents(events: readonly ShownEvent[], rows: ReadonlyMap<bigint, unknown>): ShownEvent[] {
  return events.filter(({ seq }) => rows.has(seq)).sort((a, b) => compareSeq(a.seq, b.seq));
}
