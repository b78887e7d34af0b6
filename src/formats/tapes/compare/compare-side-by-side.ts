import type { Bytes } from "../../text/load-lines.ts";
import { readTape } from "../read-tape.ts";
import type { TapeRecord } from "../tape.ts";
import { type ComparisonMode, type ComparisonReport, TapeComparison } from "./compare-tapes.ts";

export interface TapeFile {
  readonly path: string;
  readonly bytes: Bytes;
}

/**
 * Reads both tapes at once, neither far ahead of the other, so that memory does not grow with them. Throws `FileError` when one
 * cannot be loaded; errors of the recording are reported first. `onRecorded` sees the records of the recording as well.
 */
export async function compareTapes(
  mode: ComparisonMode,
  recorded: TapeFile,
  replay: TapeFile,
  onRecorded: (record: TapeRecord) => void = () => {},
): Promise<ComparisonReport> {
  const comparison = new TapeComparison(mode);
  const pace = new Pace();
  const outcomes = await Promise.allSettled([
    readTape(recorded.path, pace.keep(0, recorded.bytes), (record) => {
      pace.read[0]++;
      comparison.add("recorded", record);
      onRecorded(record);
    }),
    readTape(replay.path, pace.keep(1, replay.bytes), (record) => {
      pace.read[1]++;
      comparison.add("replay", record);
    }),
  ]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return comparison.report();
}

/** Lets a reader have its next piece only while it is not ahead of the other one, which at most one of the two can be. */
class Pace {
  readonly read: [number, number] = [0, 0];
  readonly #ended = [false, false];
  #wake = () => {};

  async *keep(side: 0 | 1, bytes: Bytes): AsyncGenerator<Uint8Array> {
    const other = side === 0 ? 1 : 0;
    try {
      for await (const piece of bytes) {
        this.#wake();
        while (this.read[side] > this.read[other] && !this.#ended[other]) await this.#othersProgress();
        yield piece;
      }
    } finally {
      this.#ended[side] = true;
      this.#wake();
    }
  }

  #othersProgress(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
