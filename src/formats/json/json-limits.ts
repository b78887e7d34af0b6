const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = [0x5b, 0x7b] as const;
const CLOSING = [0x5d, 0x7d] as const;

export interface JsonLimits {
  readonly maxDepth: number;
  readonly maxElements: number;
}

/**
 * The limit that a JSON text exceeds, found by one pass over its bytes before anything is built from it. Does not
 * check syntax: a text that passes may still be no JSON.
 */
export function exceedsLimits(bytes: Uint8Array, limits: JsonLimits): string | undefined {
  // A level takes two bytes and an element one: short bodies cannot exceed anything.
  if (bytes.length <= limits.maxDepth && bytes.length <= limits.maxElements) return undefined;
  const measured = measureJson(bytes, limits);
  return typeof measured === "string" ? measured : undefined;
}

/** The same and, where nothing is too much, how many members its objects have as they are written; see `repeatedMember`. */
export function measureJson(
  bytes: Uint8Array,
  { maxDepth, maxElements }: JsonLimits,
): string | { readonly names: number } {
  let depth = 0;
  let elements = 0;
  let names = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = endOfString(bytes, i + 1);
    } else if (byte === COLON) {
      names++;
    } else if (byte === COMMA) {
      elements++;
    } else if (byte === OPENING[0] || byte === OPENING[1]) {
      elements++;
      if (++depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
    } else if (byte === CLOSING[0] || byte === CLOSING[1]) {
      depth--;
    }
    if (elements > maxElements) return `has more than ${maxElements} elements`;
  }
  return { names };
}

/** The place of the closing quote, or the end when there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i++;
  }
  return bytes.length;
}
