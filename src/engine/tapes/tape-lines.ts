import { setImmediate as nextTurn } from "node:timers/promises";
import { exceedsLimits, type JsonLimits } from "../../formats/json/check-json.ts";
import { type FileLine, RowLineReader, type RowLines } from "../../formats/tapes/sidecar/row-lines.ts";

/** Values and members of one line of a received tape or sidecar, at most. The format has no such limit: files are read without it. */
export const MAX_LINE_ELEMENTS = 100_000;

/** Nesting is limited by the readers of both formats. */
const LIMITS: JsonLimits = { maxDepth: Number.POSITIVE_INFINITY, maxElements: MAX_LINE_ELEMENTS };

/** The limit that a line exceeds, found before it is parsed: each value takes many times its text in memory. */
export function lineExcess(line: string): string | undefined {
  // An element takes at least one character, so most lines need not be encoded to be measured.
  return line.length <= MAX_LINE_ELEMENTS ? undefined : exceedsLimits(Buffer.from(line, "utf8"), LIMITS);
}

/** Some milliseconds of reading. */
const CHARACTERS_AT_ONCE = 128 * 1024;
/** The fixed cost of a line, in characters. */
const CHARACTERS_PER_LINE = 64;

/** Pauses for other requests after a number of characters: a file may be as long as a request. */
export class Turns {
  #characters = 0;

  /** To be awaited after each line; mostly it returns undefined. */
  after(characters: number): Promise<void> | undefined {
    this.#characters += characters + CHARACTERS_PER_LINE;
    if (this.#characters < CHARACTERS_AT_ONCE) return undefined;
    this.#characters = 0;
    return nextTurn();
  }
}

/** Reads the rows of a sidecar. Throws `FileError` for lines that are no sidecar. */
export async function rowLinesInTurns(lines: readonly FileLine[]): Promise<RowLines> {
  const reader = new RowLineReader("sidecar");
  const turns = new Turns();
  for (const line of lines) {
    reader.take(line);
    await turns.after(line.text.length);
  }
  return reader.end();
}
