/** A line of a file as it is there: what it says, and what ends it. */
export interface FileLine {
  readonly text: string;
  /** LF or CR LF; where the file ends without them, nothing or a CR that would be part of one. */
  readonly end: string;
}

/** Cut as readers cut it: at LF, with one CR directly before it. Put together again they are the text. */
export function fileLines(text: string): FileLine[] {
  const lines: FileLine[] = [];
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", start)) {
    lines.push(lineOf(text.slice(start, at), "\n"));
    start = at + 1;
  }
  if (start < text.length) lines.push(lineOf(text.slice(start), ""));
  return lines;
}

function lineOf(text: string, end: string): FileLine {
  return text.endsWith("\r") ? { text: text.slice(0, -1), end: `\r${end}` } : { text, end };
}

/** A line that had no end gets one when others come after it. */
export function fileText(lines: readonly FileLine[]): string {
  const usual = usualEnd(lines);
  const last = lines.length - 1;
  return lines.map(({ text, end }, i) => text + (isWhole(end) || i === last ? end : usual)).join("");
}

/** How lines that are added to a file end: as the last one that has an end. */
export function usualEnd(lines: readonly FileLine[]): string {
  return lines.findLast(({ end }) => isWhole(end))?.end ?? "\n";
}

function isWhole(end: string): boolean {
  return end.endsWith("\n");
}
