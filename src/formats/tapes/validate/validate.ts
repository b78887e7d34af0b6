import { UNSURE } from "../../json/skim-json.ts";
import { type Bytes, type LinesReader, type LoadOptions, lineText, loadWindows } from "../../text/lines.ts";
import { SidecarReader, sidecarUnreadable } from "../sidecar/read-sidecar.ts";
import type { RowKind, Sidecar, SidecarHeader } from "../sidecar/sidecar.ts";
import type { Tape } from "../tape.ts";
import { factsOf, type TapeFacts } from "../tape-facts.ts";
import { IdSet } from "./id-set.ts";
import {
  type Finding,
  type JudgedRow,
  PROBLEM_CODES,
  type Problem,
  type ProblemCode,
  problemsOfRow,
} from "./problems.ts";
import { SkimmedRow, skimRow } from "./skim-row.ts";

export interface Verdict {
  /** How many rows. */
  readonly checked: number;
  readonly findings: Iterable<Finding> & { readonly length: number };
  /** By kind, only those that occur, sorted. */
  readonly kindCounts: ReadonlyMap<RowKind, number>;
}

/** Judges the rows of a sidecar one by one, in the order of the file, and holds none of them: ids and findings only. */
export class Validation {
  readonly #tape: TapeFacts;
  readonly #ids: IdSet;
  readonly #findings = new FindingList();
  readonly #kindCounts = new Map<RowKind, number>();
  #checked = 0;

  private constructor(tape: TapeFacts, ids: IdSet) {
    this.#tape = tape;
    this.#ids = ids;
  }

  static async start(tape: TapeFacts, seed?: number): Promise<Validation> {
    return new Validation(tape, await IdSet.start(seed));
  }

  row(row: JudgedRow, line: number): void {
    this.#judge(row, row.id !== "" && !this.#ids.addText(row.id), line);
  }

  /** The same for a row that is nothing but places in its bytes yet. Most have no problem, which is known without parsing them. */
  skimmedRow(row: SkimmedRow, line: number): void {
    const isRepeated = row.idEnd > row.idStart && !this.#ids.add(row.bytes, row.idStart, row.idEnd);
    if (
      !isRepeated &&
      row.isFine &&
      this.#tape.seqs.hasNumber(row.eventId) &&
      row.spanEnd <= this.#tape.seqs.lastNumber
    ) {
      this.#count(row.kind);
    } else {
      this.#judge(row.read(), isRepeated, line);
    }
  }

  /** `headerLine` is where the header stands. */
  end(header: SidecarHeader, headerLine: number): Verdict {
    const expected = header.tape_content_hash;
    const actual = this.#tape.digest;
    if (expected !== null && expected !== actual) {
      this.#findings.add({ code: "tape_digest_mismatch", expected, actual }, headerLine);
    }
    const kindCounts = new Map([...this.#kindCounts].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { checked: this.#checked, findings: this.#findings, kindCounts };
  }

  #judge(row: JudgedRow, isRepeated: boolean, line: number): void {
    this.#count(row.kind);
    for (const problem of problemsOfRow(row, isRepeated, this.#tape.seqs)) this.#findings.add(problem, line);
  }

  #count(kind: RowKind): void {
    this.#checked++;
    this.#kindCounts.set(kind, (this.#kindCounts.get(kind) ?? 0) + 1);
  }
}

/** For files that are held anyway. Lines are counted as if a writer had made the file. */
export async function validate(sidecar: Sidecar, tape: Tape): Promise<Verdict> {
  const validation = await Validation.start(await factsOf(tape.records));
  for (const [i, row] of sidecar.rows.entries()) validation.row(row, i + 2);
  return validation.end(sidecar.header, 1);
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export interface ValidateOptions extends LoadOptions {
  /** The seed of the table of ids: an unpredictable one keeps crafted ids from slowing it down. */
  readonly seed?: number;
}

/** Judges a sidecar as it arrives; see `Validation`. Throws `FileError` when it does not load. */
export async function validateSidecar(
  path: string,
  bytes: Bytes,
  tape: TapeFacts,
  options: ValidateOptions = {},
): Promise<Verdict> {
  const validation = await Validation.start(tape, options.seed);
  const reader = new SidecarReader(path, (row, line) => validation.row(row, line));
  await loadWindows(bytes, new RowLines(reader, validation), (reason) => sidecarUnreadable(path, reason), options);
  return validation.end(reader.header, reader.headerLine);
}

/** Ordinary rows are skimmed; every other line goes to the exact reader, which also says what is wrong with it. */
class RowLines implements LinesReader {
  readonly #reader: SidecarReader;
  readonly #validation: Validation;
  readonly #row = new SkimmedRow();

  constructor(reader: SidecarReader, validation: Validation) {
    this.#reader = reader;
    this.#validation = validation;
  }

  lines(bytes: Uint8Array, end: number): void {
    const row = this.#row;
    let at = 0;
    while (at < end) {
      const next = this.#reader.headerLine === 0 ? UNSURE : this.#skimmed(bytes, at);
      if (next === UNSURE) {
        const feed = bytes.indexOf(LINE_FEED, at);
        this.#reader.line(lineText(bytes, at, feed));
        at = feed + 1;
      } else {
        this.#validation.skimmedRow(row, this.#reader.countRow());
        at = next;
      }
    }
  }

  end(): void {
    this.#reader.end();
  }

  /** Where the next line begins. */
  #skimmed(bytes: Uint8Array, at: number): number {
    this.#row.clear(bytes);
    const end = skimRow(this.#row, bytes, at);
    if (end === UNSURE) return UNSURE;
    if (bytes[end] === LINE_FEED) return end + 1;
    return bytes[end] === CARRIAGE_RETURN && bytes[end + 1] === LINE_FEED ? end + 2 : UNSURE;
  }
}

const BLOCK = 256;

/**
 * Findings in the order in which they were made, kept as text: a million objects with their strings would take several times the
 * memory of what is printed of them in the end, and a sidecar that belongs to another tape has a finding on every row.
 */
class FindingList implements Iterable<Finding> {
  readonly #blocks: string[] = [];
  #open: string[] = [];
  #count = 0;

  get length(): number {
    return this.#count;
  }

  add(problem: Problem, line: number): void {
    this.#open.push(packed(problem, line));
    this.#count++;
    if (this.#open.length < BLOCK) return;
    this.#blocks.push(this.#open.join());
    this.#open = [];
  }

  *[Symbol.iterator](): Generator<Finding> {
    for (const block of [...this.#blocks, this.#open.join()]) {
      for (const [code, line, ...texts] of JSON.parse(`[${block}]`) as Packed[]) yield unpacked(code, line, texts);
    }
  }
}

type Packed = readonly [code: number, line: number, ...texts: string[]];

function packed(problem: Problem, line: number): string {
  const { code, ...members } = problem;
  return JSON.stringify([PROBLEM_CODES.indexOf(code), line, ...Object.values(members).map(String)]);
}

function unpacked(index: number, line: number, [first = "", second = ""]: readonly string[]): Finding {
  return { problem: problemOf(PROBLEM_CODES[index] as ProblemCode, first, second), line };
}

function problemOf(code: ProblemCode, first: string, second: string): Problem {
  switch (code) {
    case "unknown_event_id":
      return { code, annotation_id: first, event_id: BigInt(second) };
    case "friction_kind_unknown":
      return { code, annotation_id: first, friction_kind: second };
    case "invalid_span":
      return { code, annotation_id: first, message: second };
    case "tape_digest_mismatch":
      return { code, expected: first, actual: second };
    default:
      return { code, annotation_id: first };
  }
}
