import { UNSURE } from "../json/skim-string.ts";
import { type LinesReader, type LoadOptions, lineText, loadWindows } from "../text/line-window.ts";
import type { Bytes } from "../text/load-lines.ts";
import { TapeDigest } from "./digest.ts";
import { TapeReader, tapeUnreadable } from "./read-tape.ts";
import { SeqSet } from "./seq-set.ts";
import { HASHED_FROM, skimRecord } from "./skim-record.ts";
import type { TapeRecord } from "./tape.ts";

const LINE_FEED = 10;

/** What there is to know of a tape to judge a sidecar by it. */
export interface TapeFacts {
  readonly seqs: SeqSet;
  readonly digest: string;
}

export async function factsOf(records: Iterable<TapeRecord>): Promise<TapeFacts> {
  const seqs = new SeqSet();
  const digest = await TapeDigest.start();
  for (const record of records) {
    seqs.add(record.seq);
    digest.add(record);
  }
  return { seqs, digest: digest.hex() };
}

/** Reads a whole tape and holds none of its records. Throws `FileError`. */
export async function readTapeFacts(path: string, bytes: Bytes, options: LoadOptions = {}): Promise<TapeFacts> {
  const seqs = new SeqSet();
  const digest = await TapeDigest.start();
  await loadWindows(bytes, new RecordLines(path, seqs, digest), (reason) => tapeUnreadable(path, reason), options);
  return { seqs, digest: digest.hex() };
}

/** Records as writers print them are skimmed; every other line goes to the exact reader, which also says what is wrong with it. */
class RecordLines implements LinesReader {
  readonly #reader: TapeReader;
  readonly #seqs: SeqSet;
  readonly #digest: TapeDigest;
  readonly #skimmed = { seq: 0 };
  #isFirst = true;

  constructor(path: string, seqs: SeqSet, digest: TapeDigest) {
    this.#seqs = seqs;
    this.#digest = digest;
    this.#reader = new TapeReader(path, (record) => {
      seqs.add(record.seq);
      digest.add(record);
    });
  }

  lines(bytes: Uint8Array, end: number): void {
    let at = 0;
    while (at < end) {
      // The first line is the header, or an error that only the reader can name.
      const behind = this.#isFirst ? UNSURE : skimRecord(this.#skimmed, bytes, at);
      this.#isFirst = false;
      if (behind !== UNSURE && bytes[behind] === LINE_FEED) {
        this.#seqs.add(BigInt(this.#skimmed.seq));
        this.#digest.addPrinted(bytes, at + HASHED_FROM, behind);
        this.#reader.countRecord();
        at = behind + 1;
      } else {
        const feed = bytes.indexOf(LINE_FEED, at);
        this.#reader.line(lineText(bytes, at, feed));
        at = feed + 1;
      }
    }
  }

  end(): void {
    this.#reader.end();
  }
}
