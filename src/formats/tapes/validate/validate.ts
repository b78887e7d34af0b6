import { IdSet } from "../sidecar/id-set.ts";
import type { Finding } from "../sidecar/problem.ts";
import type { RowKind, Sidecar, SidecarHeader } from "../sidecar/sidecar.ts";
import type { SkimmedRow } from "../sidecar/skimmed-row.ts";
import type { Tape } from "../tape.ts";
import { factsOf, type TapeFacts } from "../tape-facts.ts";
import { FindingList } from "./finding-list.ts";
import { type JudgedRow, problemsOfRow } from "./validate-row.ts";

/** The result of validating a sidecar against a tape. */
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
