/** Unicode White_Space. `String.prototype.trim` also takes U+FEFF and leaves U+0085. */
const SPACE = "\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const AT_START = new RegExp(`^[${SPACE}]+`);
const AT_END = new RegExp(`[${SPACE}]+$`);

export function trimSpace(text: string): string {
  // Most lines have none, and a pattern that is anchored at the end tries every place of a long line.
  const last = text.charCodeAt(text.length - 1);
  const start = text.replace(AT_START, "");
  return last > 0x20 && last < 0x7f ? start : trimEnd(start);
}

function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && AT_END.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
