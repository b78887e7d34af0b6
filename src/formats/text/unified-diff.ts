export interface UnifiedDiff {
  /** Hunks with three lines of context; empty when the texts are equal. */
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

const CONTEXT = 3;

/**
 * More differences than this are not searched for the shortest way: the work grows with their square. What differs is then one block
 * that is taken out and one that is put in, which is true as well.
 */
export const EDITS_MAX = 1000;

/** How one text became another, line by line. A line ends with LF; a CR before it belongs to the line. */
export function unifiedDiff(
  before: string,
  after: string,
  names: { readonly from: string; readonly to: string },
): UnifiedDiff {
  const edits = editsBetween(linesOf(before), linesOf(after));
  const added = edits.filter(({ sign }) => sign === "+").length;
  const removed = edits.filter(({ sign }) => sign === "-").length;
  if (added + removed === 0) return { text: "", added, removed };
  return { text: `--- ${names.from}\n+++ ${names.to}\n${hunks(edits).map(hunkText).join("")}`, added, removed };
}

interface Edit {
  readonly sign: " " | "-" | "+";
  /** With its LF, where it has one. */
  readonly line: string;
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return [...lines.map((line) => `${line}\n`), ...(last === "" ? [] : [last])];
}

function editsBetween(before: readonly string[], after: readonly string[]): Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const old = before.slice(head, before.length - tail);
  const young = after.slice(head, after.length - tail);
  return [
    ...marked(" ", before.slice(0, head)),
    ...(shortestEdits(old, young) ?? [...marked("-", old), ...marked("+", young)]),
    ...marked(" ", before.slice(before.length - tail)),
  ];
}

function marked(sign: Edit["sign"], lines: readonly string[]): Edit[] {
  return lines.map((line) => ({ sign, line }));
}

/** Myers' greedy search; what was reached with each number of edits is kept for the way back. */
function shortestEdits(old: readonly string[], young: readonly string[]): Edit[] | undefined {
  const max = Math.min(old.length + young.length, EDITS_MAX);
  const reached: Int32Array[] = [];
  let furthest = new Int32Array(3);
  for (let edits = 0; edits <= max; edits++) {
    const next = new Int32Array(2 * edits + 3);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = furthest[diagonal + 1 + edits] ?? 0;
      const right = (furthest[diagonal - 1 + edits] ?? 0) + 1;
      const isDown = diagonal === -edits || (diagonal !== edits && right <= down);
      let x = edits === 0 ? 0 : isDown ? down : right;
      let y = x - diagonal;
      while (x < old.length && y < young.length && old[x] === young[y]) {
        x++;
        y++;
      }
      next[diagonal + edits + 1] = x;
      if (x >= old.length && y >= young.length) return wayBack([...reached, next], old, young);
    }
    reached.push(next);
    furthest = next;
  }
  return undefined;
}

function wayBack(reached: readonly Int32Array[], old: readonly string[], young: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let x = old.length;
  let y = young.length;
  for (let count = reached.length - 1; count > 0; count--) {
    const before = reached[count - 1] ?? new Int32Array(0);
    const diagonal = x - y;
    const down = before[diagonal + 1 + count] ?? 0;
    const right = (before[diagonal - 1 + count] ?? 0) + 1;
    const isDown = diagonal === -count || (diagonal !== count && right <= down);
    const fromX = isDown ? down : right - 1;
    const fromY = fromX - (isDown ? diagonal + 1 : diagonal - 1);
    const startX = isDown ? fromX : fromX + 1;
    for (; x > startX; x--, y--) edits.push({ sign: " ", line: old[x - 1] ?? "" });
    edits.push(isDown ? { sign: "+", line: young[fromY] ?? "" } : { sign: "-", line: old[fromX] ?? "" });
    x = fromX;
    y = fromY;
  }
  for (; x > 0; x--) edits.push({ sign: " ", line: old[x - 1] ?? "" });
  return edits.reverse();
}

interface Hunk {
  /** Lines of either text before this one. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly edits: readonly Edit[];
}

/** Changes with so little between them that their contexts would touch share a hunk. */
function hunks(edits: readonly Edit[]): Hunk[] {
  const changes = edits.flatMap(({ sign }, i) => (sign === " " ? [] : [i]));
  const ranges: { start: number; end: number }[] = [];
  for (const at of changes) {
    const last = ranges.at(-1);
    if (last !== undefined && at - last.end < 2 * CONTEXT + 1) last.end = at;
    else ranges.push({ start: at, end: at });
  }
  let old = 0;
  let young = 0;
  let done = 0;
  return ranges.map(({ start, end }) => {
    const from = Math.max(0, start - CONTEXT);
    for (; done < from; done++) {
      if (edits[done]?.sign !== "+") old++;
      if (edits[done]?.sign !== "-") young++;
    }
    return { oldStart: old, newStart: young, edits: edits.slice(from, end + CONTEXT + 1) };
  });
}

function hunkText({ oldStart, newStart, edits }: Hunk): string {
  const removed = edits.filter(({ sign }) => sign !== "+").length;
  const added = edits.filter(({ sign }) => sign !== "-").length;
  const body = edits.map(({ sign, line }) =>
    line.endsWith("\n") ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`,
  );
  return `@@ -${rangeText(oldStart, removed)} +${rangeText(newStart, added)} @@\n${body.join("")}`;
}

/** Counted from 1; an empty range names the line before it. */
function rangeText(start: number, count: number): string {
  const first = count === 0 ? start : start + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
}
