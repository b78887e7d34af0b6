/** The place where two texts differ. The common text is shown only as far as it helps to find the place. */
export interface WordChange {
  readonly before: string;
  readonly expected: string;
  readonly output: string;
  readonly after: string;
}

/** The limit of each shown part. */
const PART_CHARACTERS = 400;
const CONTEXT_CHARACTERS = 60;

/** Word by word from both ends; everything in between is one change. With "none", the two are only shown side by side. */
export function wordChange(expected: string, output: string, shared: "ends" | "none" = "ends"): WordChange {
  const [old, young] = [wordsOf(expected), wordsOf(output)];
  let head = 0;
  let tail = 0;
  if (shared === "ends") {
    while (head < old.length && head < young.length && old[head] === young[head]) head++;
    const most = Math.min(old.length, young.length) - head;
    while (tail < most && old[old.length - 1 - tail] === young[young.length - 1 - tail]) tail++;
  }
  const before = old.slice(0, head).join("");
  const [from, to] = [old.slice(head, old.length - tail).join(""), young.slice(head, young.length - tail).join("")];
  // A word too long to be shown whole is gone through letter by letter, or both would be shown by the same beginning.
  const isLong = shared === "ends" && Math.min(from.length, to.length) > PART_CHARACTERS;
  const same = isLong ? sharedBeginning(from, to) : 0;
  return {
    before: ending(before + from.slice(0, same)),
    expected: beginning(from.slice(same), PART_CHARACTERS),
    output: beginning(to.slice(same), PART_CHARACTERS),
    after: beginning(old.slice(old.length - tail).join(""), CONTEXT_CHARACTERS),
  };
}

function sharedBeginning(a: string, b: string): number {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same;
}

/** White space is kept, as words of its own. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|\S+/g) ?? [];
}

function beginning(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`.toWellFormed();
}

function ending(text: string): string {
  return text.length <= CONTEXT_CHARACTERS ? text : `…${text.slice(-CONTEXT_CHARACTERS)}`.toWellFormed();
}
