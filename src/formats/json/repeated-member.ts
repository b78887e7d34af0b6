/**
 * The name of a member that an object of the text has twice, whatever its spelling; undefined where there is none. Two readers may
 * take different ones of such members, and then decide on different values. The text must be the JSON of the value.
 *
 * Members are counted in both, in one pass over each; only when the numbers differ is the member looked for. `names` is the number in the
 * text, where it is known.
 */
export function repeatedMember(text: string, value: unknown, names = namesIn(text)): string | undefined {
  return names === membersIn(value) ? undefined : findRepeated(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

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

/** The next quote that no odd number of backslashes stands before. */
function endOfString(text: string, start: number): number {
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

function findRepeated(text: string): string | undefined {
  for (const { name } of repeatedNames(text)) return name;
  return undefined;
}

/** Names that their object has already, and where they stand. The text must be JSON; it may be nested however deep. */
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
