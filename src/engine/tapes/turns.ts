import { setImmediate as nextTurn } from "node:timers/promises";
import type { FileLine } from "../../formats/tapes/sidecar/row-lines.ts";
import { RowLineReader, type RowLines } from "../../formats/tapes/sidecar/row-lines.ts";

/** Some milliseconds of reading. */
const CHARACTERS_AT_ONCE = 128 * 1024;
/** What a line costs however short it is: a file of empty lines takes time as well. */
const CHARACTERS_PER_LINE = 64;

/** Pauses for other requests after every so many characters of lines: a file may be as long as a request. */
export class Turns {
  #characters = 0;

  /** To be awaited after each line; mostly there is nothing to wait for. */
  after(characters: number): Promise<void> | undefined {
    this.#characters += characters + CHARACTERS_PER_LINE;
    if (this.#characters < CHARACTERS_AT_ONCE) return undefined;
    this.#characters = 0;
    return nextTurn();
  }
}

/** Throws `FileError` for what is no sidecar. */
export async function rowLinesInTurns(lines: readonly FileLine[]): Promise<RowLines> {
  const reader = new RowLineReader("sidecar");
  const turns = new Turns();
  for (const line of lines) {
    reader.take(line);
    await turns.after(line.text.length);
  }
  return reader.end();
}
