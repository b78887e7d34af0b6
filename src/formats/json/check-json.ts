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
 * The limit that a JSON text exceeds, found by one pass over its bytes before anything is built from it. Syntax is not checked: a text
 * within the limits may still not be JSON.
 */
export function exceedsLimits(bytes: Uint8Array, limits: JsonLimits): string | undefined {
  // A level takes two bytes and an element one, so a short body is within the limits.
  if (bytes.length <= limits.maxDepth && bytes.length <= limits.maxElements) return undefined;
  const measured = measureJson(bytes, limits);
  return typeof measured === "string" ? measured : undefined;
}

/** The exceeded limit or, within the limits, the number of members of all objects as written; see `repeatedMember`. */
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
      i = endOfBytes(bytes, i + 1);
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
function endOfBytes(bytes: Uint8Array, from: number): number {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i;
    if (byte === BACKSLASH) i++;
  }
  return bytes.length;
}

/** The value of a JSON text; undefined, which no JSON has, for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value of a JSON text, and any other text itself. */
export function jsonOrText(text: string): unknown {
  const value = parsedJson(text);
  return value === undefined ? text : value;
}

/**
 * The name of a member that an object of the text has twice, whatever its spelling; undefined where there is none. Two readers may keep
 * different ones of such members, and then decide on different values. The text must be the JSON of the value.
 *
 * Members are counted in both, in one pass over each; only when the numbers differ is the member searched. `names` is the number in the
 * text, where it is known.
 */
export function repeatedMember(text: string, value: unknown, names = namesIn(text)): string | undefined {
  if (names === membersIn(value)) return undefined;
  const [first] = repeatedNames(text);
  return first?.name;
}

/** Colons outside of strings. */
function namesIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = endOfString(text, i);
    else if (unit === COLON) count += 1;
  }
  return count;
}

/** The place of the quote that closes the string at `start`, or the end of the text without one. */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote;
  }
  return text.length;
}

function membersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const isList = Array.isArray(value);
  const members: readonly unknown[] = isList ? value : Object.values(value);
  let count = isList ? 0 : members.length;
  for (const member of members) count += membersIn(member);
  return count;
}

const NAME = /\s*:/y;

/** The places of names that their object already has. The text must be JSON; any depth is allowed. */
export function* repeatedNames(text: string): Generator<{ readonly name: string; readonly at: number }> {
  const open: Set<string>[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === "{" || character === "[") open.push(new Set());
    else if (character === "}" || character === "]") open.pop();
    if (character !== '"') continue;
    const end = endOfString(text, i) + 1;
    NAME.lastIndex = end;
    if (NAME.test(text)) {
      const name = JSON.parse(text.slice(i, end)) as string;
      const names = open.at(-1);
      if (names?.has(name)) yield { name, at: i };
      names?.add(name);
    }
    i = end - 1;
  }
}
