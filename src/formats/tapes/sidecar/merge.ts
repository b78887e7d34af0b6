import { MASK } from "../../../protocol/words.ts";
import { addTo } from "../../text/collections.ts";
import { findText } from "../../text/find-text.ts";
import {
  type FileLine,
  fileLines,
  fileText,
  type KnownRow,
  pairRows,
  type RowLine,
  readRowLines,
  usualEnd,
} from "./row-lines.ts";

export interface PulledInto {
  /** What the file here is called, for messages. */
  readonly path: string;
  readonly here: string;
  /** As the server gives it. */
  readonly there: string;
  /** Lines that the server had once, and that were replaced or taken back since. */
  readonly past: ReadonlySet<string>;
  /** As it is done before anything is sent. */
  scrub(line: string): string;
}

export interface RowChange {
  readonly what: "added" | "changed" | "removed" | "kept" | "edited";
  /** As it will be in the file; for what is removed, as it was. */
  readonly line: string;
  /** Of what is changed. */
  readonly before?: string;
}

export interface MergedFile {
  readonly text: string;
  /** `kept` and `edited` are rows and changes of rows that are only here, and stay. */
  readonly changes: readonly RowChange[];
}

interface LocalLine extends FileLine {
  /** What the server would see of it. */
  readonly clean: string;
  readonly row?: RowLine;
}

/**
 * The file of the server, in which every line that is here too is as it is here: what is secret stays here, and so do spelling and
 * line ends. Nothing that is only here is lost: it stays behind the line that it follows here.
 */
export function mergeFiles({ path, here, there, past, scrub }: PulledInto): MergedFile {
  const local = localLines(path, here, scrub);
  const theirs = fileLines(there);
  const rows = readRowLines("the server's sidecar", theirs).rows;
  const theirRow = new Map(rows.map((row) => [row.line - 1, row]));
  const placeOf = places(local, theirs, rows);
  const mine = new Map([...placeOf].map(([i, place]) => [place, local[i] as LocalLine]));
  const end = usualEnd(local);
  const changes: RowChange[] = [];
  const only = onlyHere(local, placeOf, past, changes);
  const merged = theirs.flatMap((line, place) => [
    lineAt(line, mine.get(place), theirRow.get(place)),
    ...(only.get(place) ?? []),
  ]);
  return { text: fileText([...(only.get(TOP) ?? []), ...merged]), changes };

  function lineAt(line: FileLine, own: LocalLine | undefined, row: RowLine | undefined): FileLine {
    if (own === undefined) {
      if (row !== undefined) changes.push({ what: "added", line: line.text });
      return { text: line.text, end };
    }
    if (row === undefined || own.clean === line.text || isMasked(line.text, own.clean)) return own;
    if (!past.has(own.clean)) {
      changes.push({ what: "edited", line: own.text });
      return own;
    }
    changes.push({ what: "changed", line: line.text, before: own.text });
    return { text: line.text, end: own.end };
  }
}

const TOP = -1;

function localLines(path: string, here: string, scrub: (line: string) => string): LocalLine[] {
  const lines = fileLines(here);
  const clean = lines.map(({ text, end }) => ({ text: scrub(text), end }));
  // Read as the server reads it, since ids are part of what is scrubbed.
  const rowAt = new Map(readRowLines(path, clean).rows.map((row) => [row.line - 1, row]));
  return lines.map((line, i) => {
    const row = rowAt.get(i);
    return { ...line, clean: (clean[i] as FileLine).text, ...(row === undefined ? {} : { row }) };
  });
}

/** Where each line that is here is in the other file. */
function places(local: readonly LocalLine[], theirs: readonly FileLine[], rows: readonly RowLine[]) {
  const placeOf = new Map<number, number>();
  const indexOf = new Map(local.map(({ row }, i) => [row, i]));
  const known = rows.map((row): KnownRow & { readonly place: number } => ({
    key: row.key,
    text: row.text,
    state: "live",
    place: row.line - 1,
  }));
  const mine = local.flatMap(({ row }) => row ?? []);
  const pairs = pairRows(mine, known);
  for (const [row, { place }] of [...pairs, ...maskedPairs(mine, known, pairs)]) {
    placeOf.set(indexOf.get(row) as number, place);
  }
  const rowPlaces = new Set(known.map(({ place }) => place));
  pairOthers(local, theirs, rowPlaces, placeOf);
  return placeOf;
}

/** Rows without an id, of which the server hides more than could be known here. */
function maskedPairs<K extends KnownRow>(mine: readonly RowLine[], known: readonly K[], pairs: Map<RowLine, K>) {
  const taken = new Set(pairs.values());
  const masked = new Set(known.filter((one) => !taken.has(one) && one.text.includes(MASK)));
  const found: [RowLine, K][] = [];
  if (masked.size === 0) return found;
  for (const row of mine) {
    if (pairs.has(row) || row.row.id !== "") continue;
    const fitting = [...masked].find(({ text }) => isMasked(text, row.text));
    if (fitting === undefined) continue;
    masked.delete(fitting);
    found.push([row, fitting]);
  }
  return found;
}

/** Whether the first text is the second with something of it hidden. */
function isMasked(masked: string, text: string): boolean {
  const [first = "", ...rest] = masked.split(MASK);
  if (rest.length === 0 || !text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest.slice(0, -1)) {
    const found = findText(text, part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = rest.at(-1) ?? "";
  return text.endsWith(last) && text.length - last.length >= at;
}

/** Comments and blank lines by what they say, each in its order; the header is the header, whatever it says. */
function pairOthers(
  local: readonly LocalLine[],
  theirs: readonly FileLine[],
  rowPlaces: ReadonlySet<number>,
  placeOf: Map<number, number>,
): void {
  const free = new Map<string, number[]>();
  // From the end, so that the first is the last that was put there.
  for (let place = theirs.length - 1; place >= 0; place--) {
    if (!rowPlaces.has(place)) addTo(free, nameOf((theirs[place] as FileLine).text), place);
  }
  local.forEach(({ clean, row }, i) => {
    const place = row === undefined ? free.get(nameOf(clean))?.pop() : undefined;
    if (place !== undefined) placeOf.set(i, place);
  });
}

/** Of lines that are no rows, only the header begins like this. */
function nameOf(text: string): string {
  return /^\s*\{/.test(text) ? "header" : `other ${text}`;
}

/** What is only here, by the place it stands behind. Rows that the server took back go. */
function onlyHere(
  local: readonly LocalLine[],
  placeOf: ReadonlyMap<number, number>,
  past: ReadonlySet<string>,
  changes: RowChange[],
): Map<number, FileLine[]> {
  const behind = new Map<number, FileLine[]>();
  let anchor = TOP;
  local.forEach((line, i) => {
    const place = placeOf.get(i);
    if (place !== undefined) {
      anchor = place;
      return;
    }
    if (line.row !== undefined && past.has(line.clean)) {
      changes.push({ what: "removed", line: line.text });
      return;
    }
    if (line.row !== undefined) changes.push({ what: "kept", line: line.text });
    addTo(behind, anchor, line as FileLine);
  });
  return behind;
}

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
