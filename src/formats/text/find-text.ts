/** Up to this length `indexOf` takes time in proportion to the text, whatever is searched. */
const SHORT = 250;

/**
 * The place of one text in another, with the result of `indexOf`, in time proportional to both. `indexOf` skips by the last 250 characters
 * of the searched text: in periodic texts it takes the product of both lengths, minutes for a megabyte.
 */
export function findText(text: string, wanted: string, from = 0): number {
  if (wanted.length <= SHORT) return text.indexOf(wanted, from);
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    matched = extended(wanted, borders, matched, text.charCodeAt(at));
    if (matched === wanted.length) return at - matched + 1;
  }
  return -1;
}

export function holdsText(text: string, wanted: string): boolean {
  return findText(text, wanted) !== -1;
}

/** For each beginning of a text, the length of its longest end that is a shorter beginning too (Knuth, Morris and Pratt). */
function bordersOf(wanted: string): Int32Array {
  const borders = new Int32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    matched = extended(wanted, borders, matched, wanted.charCodeAt(at));
    borders[at] = matched;
  }
  return borders;
}

/** The length of the beginning that is matched after one more character. */
function extended(wanted: string, borders: Int32Array, before: number, character: number): number {
  let matched = before;
  while (matched > 0 && wanted.charCodeAt(matched) !== character) matched = borders[matched - 1] ?? 0;
  return wanted.charCodeAt(matched) === character ? matched + 1 : matched;
}

/**
 * The content of the Markdown fence that some models add; undefined for a text that is not one fence from end to end. Only
 * both ends are compared, without a pattern over the whole text, so that no text makes it slow.
 */
export function unfenced(text: string): string | undefined {
  const trimmed = text.trim();
  const begin = trimmed.indexOf("\n");
  const isFenced = begin > 0 && /^```[\w-]*\s*$/.test(trimmed.slice(0, begin)) && trimmed.endsWith("\n```");
  return isFenced ? trimmed.slice(begin + 1, Math.max(begin + 1, trimmed.length - "\n```".length)) : undefined;
}
