import { UNSURE } from "../json/skim-string.ts";
import { type LinesReader, type LoadOptions, lineText, loadWindows } from "../text/line-window.ts";
import type { Bytes } from "../text/load-lines.ts";
import { TapeDigest } from "./digest.ts";
import { readTape, TapeReader, tapeUnreadable } from "./read-tape.ts";
import { SeqSet } from "./seq-set.ts";
import { HASHED_FROM, skimRecord } from "./skim-record.ts";
import { referencedBodies, type TapeRecord } from "./tape.ts";

const LINE_FEED = 10;

/** The facts of a tape that its sidecar is validated against. */
export interface TapeFacts {
  readonly seqs: SeqSet;
  readonly digest: string;
}

class FactsCollector {
  readonly seqs = new SeqSet();
  readonly digest: TapeDigest;

  private constructor(digest: TapeDigest) {
    this.digest = digest;
  }

  static async start(): Promise<FactsCollector> {
    return new FactsCollector(await TapeDigest.start());
  }

  add(record: TapeRecord): void {
    this.seqs.add(record.seq);
    this.digest.add(record);
  }

  facts(): TapeFacts {
    return { seqs: this.seqs, digest: this.digest.hex() };
  }
}

export async function factsOf(records: Iterable<TapeRecord>): Promise<TapeFacts> {
  const collector = await FactsCollector.start();
  for (const record of records) collector.add(record);
  return collector.facts();
}

/** Reads a whole tape and passes each record on. Throws `FileError`. */
async function readTapeWithFacts(
  path: string,
  bytes: Bytes,
  onRecord: (record: TapeRecord) => void,
): Promise<TapeFacts> {
  const collector = await FactsCollector.start();
  await readTape(path, bytes, (record) => {
    collector.add(record);
    onRecord(record);
  });
  return collector.facts();
}

/** Reads a whole tape and holds none of its records. Throws `FileError`. */
export async function readTapeFacts(path: string, bytes: Bytes, options: LoadOptions = {}): Promise<TapeFacts> {
  const collector = await FactsCollector.start();
  await loadWindows(bytes, new RecordLines(path, collector), (reason) => tapeUnreadable(path, reason), options);
  return collector.facts();
}

/** Skims records that are printed as writers print them. Every other line goes to the exact reader, which also names its error. */
class RecordLines implements LinesReader {
  readonly #reader: TapeReader;
  readonly #collector: FactsCollector;
  readonly #skimmed = { seq: 0 };
  #isFirst = true;

  constructor(path: string, collector: FactsCollector) {
    this.#collector = collector;
    this.#reader = new TapeReader(path, (record) => collector.add(record));
  }

  lines(bytes: Uint8Array, end: number): void {
    let at = 0;
    while (at < end) {
      // The first line is the header, or an error that only the exact reader names.
      const behind = this.#isFirst ? UNSURE : skimRecord(this.#skimmed, bytes, at);
      this.#isFirst = false;
      if (behind !== UNSURE && bytes[behind] === LINE_FEED) {
        this.#collector.seqs.add(BigInt(this.#skimmed.seq));
        this.#collector.digest.addPrinted(bytes, at + HASHED_FROM, behind);
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

/** The facts of a tape that its bundle needs. */
export interface TapeContents {
  readonly digest: string;
  readonly records: bigint;
  /** The hashes of the bodies that its records name. */
  readonly referenced: ReadonlySet<string>;
}

/** Reads a whole tape and holds none of its records. Throws `FileError`. */
export async function readTapeContents(path: string, bytes: Bytes): Promise<TapeContents> {
  const referenced = new Set<string>();
  let records = 0n;
  const { digest } = await readTapeWithFacts(path, bytes, (record) => {
    records++;
    for (const hash of referencedBodies(record)) referenced.add(hash);
  });
  return { digest, records, referenced };
}
