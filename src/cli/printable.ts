// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text that others wrote, safe to show: it cannot move the cursor, change colours or reverse the line. */
export function printable(text: string): string {
  return text.replace(CONTROL, (char) => (char === "\n" || char === "\t" ? " " : "\ufffd"));
}

/** A value on one line. */
export function printableJson(value: unknown): string {
  return printable(JSON.stringify(value) ?? "");
}

export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, Math.max(1, max - 1))}…`;
}
