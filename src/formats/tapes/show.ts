import { compareSeq } from "./seq-set.ts";
import { type Chains, splitMuted } from "./sidecar/current-rows.ts";
import { isAdvisedStep } from "./sidecar/new-row.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS, type Row, type RowKind } from "./sidecar/sidecar.ts";
import type { TapeRecord } from "./tape.ts";

/** The members of a row that the block shows. */
export interface ShownRow {
  readonly kind: RowKind;
  readonly id: string;
  readonly evidence: string;
}

/** The members of an event that the block shows. */
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

/** A lone CR does not end a line. */
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
  /** Text from the files. */
  quoted(text: string): string;
}

const PLAIN: LineStyle = {
  heading: (text) => text,
  event: (text) => text,
  kind: (kind) => kind,
  quoted: (text) => text,
};

export interface RunBlock {
  /** The path of the sidecar, as given. */
  readonly path: string;
  /** The number of all annotations, with those on events that the tape does not have. */
  readonly annotations: number;
  readonly events: readonly ShownEvent[];
  /** By event, in the order of the file. */
  readonly rows: ReadonlyMap<bigint, readonly ShownRow[]>;
}

/**
 * The lines of the run-summary block without their ends: annotated events in the order of their numbers, each with its annotations. Without
 * a style the output is exact, and scripts compare it.
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

/** In the order of their numbers; events with the same number stay in the order of the tape. */
export function annotatedEvents(events: readonly ShownEvent[], rows: ReadonlyMap<bigint, unknown>): ShownEvent[] {
  return events.filter(({ seq }) => rows.has(seq)).sort((a, b) => compareSeq(a.seq, b.seq));
}

type StatedRow = Pick<Row, "kind" | "hypothesis_status">;

/** The rows about one subject over time, in the order of the file. */
export interface History<R extends StatedRow> {
  readonly steps: readonly Step<R>[];
}

export interface Step<R extends StatedRow> {
  readonly row: R;
  readonly replaces: R | undefined;
  /** The row is not replaced, so it is valid. There are several where two rows replaced the same one. */
  readonly isNewest: boolean;
  /** False for a change that the format advises against, such as one from `confirmed` back to `active`. */
  readonly isAdvised: boolean;
}

/** Every hypothesis, and all other replaced rows. `chains` was given the same rows, in the same order. */
export function histories<R extends StatedRow>(rows: readonly R[], chains: Chains): History<R>[] {
  const step = (index: number): Step<R> => {
    const row = rows[index] as R;
    const earlier = chains.earlierThan(index);
    const replaces = earlier === undefined ? undefined : rows[earlier];
    return { row, replaces, isNewest: !chains.isReplaced(index), isAdvised: isAdvised(replaces, row) };
  };
  const groups = chains.groups();
  return rows.flatMap(({ kind }, index) => {
    if (chains.earlierThan(index) !== undefined) return [];
    const alone = kind === "hypothesis" ? [index] : [];
    const group = groups.get(index) ?? alone;
    return group.length === 0 ? [] : [{ steps: group.map(step) }];
  });
}

function isAdvised(earlier: StatedRow | undefined, row: StatedRow): boolean {
  const from = earlier?.hypothesis_status ?? null;
  const to = row.hypothesis_status;
  return from === null || to === null || isAdvisedStep(from, to);
}

/** The members of a row that a summary shows. */
export type SummaryRow = Omit<Row, "suggested_fix" | "links" | "metadata">;

/** Dropping the other members halves the memory of a million rows. */
export function summaryRow({ suggested_fix: _, links: __, metadata: ___, ...shown }: Row): SummaryRow {
  return shown;
}

export interface Summary {
  /** The number of rows in the file. */
  readonly annotations: number;
  /** The number of rows that a later one replaces; they are in no other figure. */
  readonly replaced: number;
  /** The number of rows on muted events; they are in no other figure either. */
  readonly muted: number;
  /** The remaining rows, which the figures below are about. */
  readonly counted: readonly SummaryRow[];
  /** The rows that mute, without replaced ones. */
  readonly mutes: readonly SummaryRow[];
  /** Only kinds that occur, in the order of the format. */
  readonly kinds: readonly Count[];
  readonly frictionKinds: readonly Count[];
  readonly hypothesisStatuses: readonly Count[];
}

export interface Count {
  readonly name: string;
  readonly count: number;
}

/** `chains` was given the same rows, in the same order. */
export function summarize(rows: readonly SummaryRow[], chains: Chains): Summary {
  const current = rows.filter((_, index) => !chains.isReplaced(index));
  const { heard: counted, muted, mutes } = splitMuted(current);
  return {
    annotations: rows.length,
    replaced: rows.length - current.length,
    muted: muted.length,
    counted,
    mutes,
    kinds: counts([...ROW_KINDS, "unknown"], counted, ({ kind }) => kind),
    frictionKinds: counts(FRICTION_KINDS, counted, ({ kind, friction_kind }) => kind === "friction" && friction_kind),
    hypothesisStatuses: counts(
      HYPOTHESIS_STATUSES,
      counted,
      ({ kind, hypothesis_status }) => kind === "hypothesis" && hypothesis_status,
    ),
  };
}

function counts(
  names: readonly string[],
  rows: readonly SummaryRow[],
  nameOf: (row: SummaryRow) => string | null | false,
): Count[] {
  const found = new Map(names.map((name) => [name, 0]));
  for (const row of rows) {
    const name = nameOf(row);
    // Unknown words have no count of their own: validation reports them.
    const count = name ? found.get(name) : undefined;
    if (name && count !== undefined) found.set(name, count + 1);
  }
  return Array.from(found, ([name, count]) => ({ name, count })).filter(({ count }) => count > 0);
}
