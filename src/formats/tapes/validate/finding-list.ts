import { type Finding, PROBLEM_CODES, type Problem, type ProblemCode } from "../sidecar/problem.ts";

const BLOCK = 256;

/**
 * Findings in the order in which they were made, kept as text: a million objects with their strings would take several times the
 * memory of what is printed of them in the end, and a sidecar that belongs to another tape has a finding on every row.
 */
export class FindingList implements Iterable<Finding> {
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
