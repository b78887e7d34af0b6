import { readJson, Unreadable } from "../../json/exact-json.ts";
import { type Bytes, type LineReader, loadLines } from "../../text/load-lines.ts";
import { trimSpace } from "../../text/trim.ts";
import { tapeUnreadable } from "../read-tape.ts";
import { readTapeLine, type TapeRecord } from "../tape.ts";

/**
 * Some records of a tape that has been read before, by their places from 0. The others are passed over without looking into them, and so
 * is one that is not what it was.
 */
export async function pickRecords(
  path: string,
  bytes: Bytes,
  wanted: ReadonlySet<number>,
): Promise<ReadonlyMap<number, TapeRecord>> {
  const picker = new RecordPicker(wanted);
  await loadLines(bytes, picker, (reason) => tapeUnreadable(path, reason));
  return picker.records;
}

class RecordPicker implements LineReader {
  readonly records = new Map<number, TapeRecord>();
  readonly #wanted: ReadonlySet<number>;
  #lines = 0;
  #place = 0;

  constructor(wanted: ReadonlySet<number>) {
    this.#wanted = wanted;
  }

  line(text: string): void {
    this.#lines++;
    if (this.#lines === 1 || trimSpace(text) === "") return;
    const place = this.#place++;
    if (!this.#wanted.has(place)) return;
    const record = recordOf(text);
    if (record !== undefined) this.records.set(place, record);
  }

  end(): void {}
}

/** Undefined when the line is not what it was. */
function recordOf(text: string): TapeRecord | undefined {
  try {
    const line = readTapeLine(readJson(trimSpace(text)));
    return line.type === "record" ? line.record : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}
