import { setImmediate as nextTurn } from "node:timers/promises";
import type { FileLine } from "../../formats/sidecar/file-lines.ts";
import { RowLineReader, type RowLines } from "../../formats/sidecar/row-key.ts";

/** Some milliseconds of reading. */
const CHARACTERS_AT_ONCE = 128 * 1024;

/** Lets everybody else have their turn after every so many characters of work: a file may be as long as a request. */
export class Turns {
  #characters = 0;

  /** To be awaited; mostly there is nothing to wait for. */
  after(characters: number): Promise<void> | undefined {
    this.#characters += characters;
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
