import { type FileLine, fileText, usualEnd } from "./file-lines.ts";
import type { RowLine } from "./row-key.ts";
import type { KnownRow } from "./row-key-pairs.ts";

/** A row of a run as it is now. */
export interface CurrentRow extends KnownRow {
  /** Hidden from the caller. */
  readonly hidden?: true;
  /** As it was pushed; `text` names its author, where that is another than the reader. */
  readonly came: string;
}

/**
 * The sidecar as it is now: the file as it was last pushed, without the rows that were taken back, and after it those that came since,
 * in the order they are given. Unchanged rows are there byte for byte.
 */
export function currentSidecar(
  lines: readonly FileLine[],
  rows: readonly RowLine[],
  current: readonly CurrentRow[],
  pairs: ReadonlyMap<RowLine, CurrentRow>,
): string {
  const rowAt = new Map(rows.map((row) => [row.line, row]));
  const kept = lines.flatMap((line, i) => lineNow(line, pairs.get(rowAt.get(i + 1) as RowLine)));
  const paired = new Set(pairs.values());
  const end = usualEnd(lines);
  const added = current.filter((row) => row.state === "live" && !row.hidden && !paired.has(row));
  return fileText([...kept, ...added.map((row) => ({ text: row.text, end }))]);
}

/** A row has its recorded text: the last push may be by another author than the row's, and may have failed before it stored its file. */
function lineNow(line: FileLine, now: CurrentRow | undefined): readonly FileLine[] {
  if (now === undefined) return [line];
  return now.hidden || now.state === "retracted" ? [] : [{ ...line, text: now.text }];
}
