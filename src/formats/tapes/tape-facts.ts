import { i32, i64, text, u64 } from "../json/codec.ts";
import {
  bytesOf,
  COMMA,
  safeInteger,
  skimDigits,
  skimNull,
  skimPrintedString,
  skimWord,
  UNSURE,
} from "../json/skim-json.ts";
import { type Bytes, type LinesReader, type LoadOptions, lineText, loadWindows } from "../text/lines.ts";
import { TapeDigest } from "./digest.ts";
import { readTape, TapeReader, tapeUnreadable } from "./read-tape.ts";
import { SeqSet } from "./seq-set.ts";
import { clockSource, maybeText, payload, RECORD_KINDS, referencedBodies, type TapeRecord, texts } from "./tape.ts";

/** Skims one part of a printed record; see `skim-json.ts`. */
type Step = (bytes: Uint8Array, at: number) => number;

const ZERO = 0x30;
const MINUS = 0x2d;
const CLOSE_BRACKET = 0x5d;

const skimText: Step = skimPrintedString;
/** Limits are one digit below the greatest number of the type; longer numbers are left to the exact reader. */
const skimU64 = integer(19, false);
const skimI64 = integer(18, true);

function integer(digitsMax: number, isSigned: boolean): Step {
  return (bytes, at) => {
    const start = isSigned && bytes[at] === MINUS ? at + 1 : at;
    const end = skimDigits(bytes, start);
    if (end === start || end - start > digitsMax) return UNSURE;
    // A writer prints neither 01 nor -0.
    return bytes[start] === ZERO && (end > start + 1 || start > at) ? UNSURE : end;
  };
}

function inOrder(...steps: readonly Step[]): Step {
  return (bytes, at) => {
    let here = at;
    for (const step of steps) {
      here = step(bytes, here);
      if (here === UNSURE) return UNSURE;
    }
    return here;
  };
}

function literal(printed: string): Step {
  const wanted = bytesOf(printed);
  return (bytes, at) => skimWord(bytes, at, wanted);
}

function firstOf(steps: readonly Step[]): Step {
  return (bytes, at) => {
    for (const step of steps) {
      const end = step(bytes, at);
      if (end !== UNSURE) return end;
    }
    return UNSURE;
  };
}

const openBracket = literal("[");

const skimTexts: Step = (bytes, at) => {
  let here = openBracket(bytes, at);
  if (here === UNSURE) return UNSURE;
  if (bytes[here] === CLOSE_BRACKET) return here + 1;
  for (;;) {
    here = skimText(bytes, here);
    if (here === UNSURE) return UNSURE;
    if (bytes[here] === CLOSE_BRACKET) return here + 1;
    if (bytes[here] !== COMMA) return UNSURE;
    here++;
  }
};

/** For each codec of the kinds, the step that skims what it prints. */
const STEPS: ReadonlyMap<unknown, Step> = new Map<unknown, Step>([
  [text, skimText],
  [maybeText, firstOf([skimNull, skimText])],
  [texts, skimTexts],
  [u64, skimU64],
  [i64, skimI64],
  [i32, integer(9, true)],
  [clockSource, firstOf([literal('"wall"'), literal('"monotonic"')])],
  [
    payload,
    inOrder(
      literal('{"content_hash":'),
      skimText,
      firstOf([inOrder(literal(',"text":'), skimText), inOrder(literal(',"len_bytes":'), skimU64)]),
      literal("}"),
    ),
  ],
]);

const kinds = Object.entries(RECORD_KINDS).map(([word, members]) => {
  const steps = Object.entries(members).map(([name, codec]) => {
    const step = STEPS.get(codec);
    if (step === undefined) throw new Error(`no step over the member ${name} of ${word}`);
    return inOrder(literal(`,"${name}":`), step);
  });
  return inOrder(literal(`"${word}"`), ...steps);
});

const beforeSeq = literal('{"type":"record","seq":');
const safeSeq = integer(15, false);
const behindSeq = inOrder(
  literal(',"phase":'),
  firstOf([literal('"user_script"'), literal('"runtime_finalize"')]),
  literal(',"virtual_time_ms":'),
  skimI64,
  literal(',"monotonic_ms":'),
  skimI64,
  literal(',"kind":{"kind":'),
  firstOf([literal('"unknown"'), ...kinds]),
  literal("}}"),
);

/** The start of a printed record that the digest does not cover. */
export const HASHED_FROM = '{"type":"record",'.length;

/**
 * Skims a record that is in the file byte for byte as a writer prints it, so that the part under the digest need not be printed again, and
 * notes its number. Every other line is left to the exact reader.
 */
export function skimRecord(into: { seq: number }, bytes: Uint8Array, at: number): number {
  const start = beforeSeq(bytes, at);
  if (start === UNSURE) return UNSURE;
  const end = safeSeq(bytes, start);
  if (end === UNSURE) return UNSURE;
  into.seq = safeInteger(bytes, start, end);
  return behindSeq(bytes, end);
}

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

/** Reads a whole tape without keeping its records. Throws `FileError`. */
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

/** Reads a whole tape without keeping its records. Throws `FileError`. */
export async function readTapeContents(path: string, bytes: Bytes): Promise<TapeContents> {
  const referenced = new Set<string>();
  let records = 0n;
  const { digest } = await readTapeWithFacts(path, bytes, (record) => {
    records++;
    for (const hash of referencedBodies(record)) referenced.add(hash);
  });
  return { digest, records, referenced };
}
