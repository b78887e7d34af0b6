// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Foreign text that is safe to show: it cannot move the cursor, change colours or reverse the line. */
export function printable(text: string): string {
  return text.replace(CONTROL, (char) => (char === "\n" || char === "\t" ? " " : "\ufffd"));
}

/**
 * Control characters of ASCII except tab, line feed and the colours of `paintFor`, so that no text is concealed; those of Latin-1; marks
 * that change the direction of a text.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\u001b(?!\[(?:1|2|22|3[1236]|39)m)/g;

/** Output that is safe for a terminal. In JSON these characters occur within strings only, where `\u009b` is the same character. */
export function escaped(text: string): string {
  // A carriage return is a line end or overwrites a line.
  return text
    .replace(/\r(?!\n)/g, "\n")
    .replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function printableJson(value: unknown): string {
  return printable(JSON.stringify(value) ?? "");
}

/** A word quoted for a shell where that is needed. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(1, max - 1))}…`;
}
