import { structuredPatch } from "diff";

export interface UnifiedDiff {
  /** Hunks with three lines of context; empty when the texts are equal. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

const CONTEXT = 3;

/**
 * Beyond this number of differences the shortest edit is not searched, since the work grows with their square. The differing part is then
 * one block that is removed and one that is added, which is correct as well.
 */
export const EDITS_MAX = 1000;

/** The changes from one text to another, line by line. A line ends with LF; a CR before it belongs to the line. */
export function unifiedDiff(
  before: string,
  after: string,
  names: { readonly from: string; readonly to: string },
): UnifiedDiff {
  const search = { context: CONTEXT, maxEditLength: EDITS_MAX };
  const hunks = structuredPatch("", "", before, after, "", "", search)?.hunks ?? [oneHunk(before, after)];
  const count = (sign: string) => hunks.reduce((sum, { lines }) => sum + counted(lines, sign), 0);
  const text = hunks.length === 0 ? "" : `--- ${names.from}\n+++ ${names.to}\n${hunks.map(hunkText).join("")}`;
  return { text, added: count("+"), removed: count("-") };
}

interface Hunk {
  /** The numbers of the first lines, from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each with its sign. */
  readonly lines: readonly string[];
}

/** Everything between the first and the last difference, as one change. */
function oneHunk(before: string, after: string): Hunk {
  const [old, young] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, young.length);
  let head = 0;
  while (head < most && old[head] === young[head]) head++;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++;
  const start = Math.max(0, head - CONTEXT);
  const end = old.length - tail;
  const lines = [
    ...signed(" ", old.slice(start, head)),
    ...signed("-", old.slice(head, end)),
    ...signed("+", young.slice(head, young.length - tail)),
    ...signed(" ", old.slice(end, end + CONTEXT)),
  ];
  return { oldStart: start + 1, newStart: start + 1, lines };
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function signed(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith("\n") ? [sign + line.slice(0, -1)] : [sign + line, "\\ No newline at end of file"],
  );
}

function counted(lines: readonly string[], sign: string): number {
  return lines.filter((line) => line.startsWith(sign)).length;
}

function hunkText({ oldStart, newStart, lines }: Hunk): string {
  const same = counted(lines, " ");
  const removed = rangeText(oldStart, same + counted(lines, "-"));
  const added = rangeText(newStart, same + counted(lines, "+"));
  return `@@ -${removed} +${added} @@\n${lines.join("\n")}\n`;
}

/** An empty range names the line before it. */
function rangeText(start: number, count: number): string {
  const first = count === 0 ? start - 1 : start;
  return count === 1 ? `${first}` : `${first},${count}`;
}
