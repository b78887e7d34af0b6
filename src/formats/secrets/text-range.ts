/** Part of a text: from the first position up to the second. */
export type TextRange = readonly [start: number, end: number];

/** A text with more secrets than this is masked as a whole, and the search ends. */
const SECRETS_MAX = 5_000;

/** Throws where there are too many of them. */
export function requireFew(count: number): void {
  if (count > SECRETS_MAX) throw new Error("a text of secrets");
}

/** The text with a mark in place of every range; ranges that meet or overlap get one mark. */
export function masked(text: string, ranges: readonly TextRange[], mark: string): string {
  if (ranges.length === 0) return text;
  let clean = "";
  let done = 0;
  for (const [start, end] of merged(ranges)) {
    clean += text.slice(done, start) + mark;
    done = end;
  }
  return clean + text.slice(done);
}

function merged(ranges: readonly TextRange[]): TextRange[] {
  const result: TextRange[] = [];
  for (const range of ranges.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last !== undefined && range[0] <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], range[1])];
    else result.push(range);
  }
  return result;
}
