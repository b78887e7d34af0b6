/** Stable names of what can be wrong with a suite; `docs/evals.md` lists them. */
const SUITE_PROBLEMS = {
  not_json: "error",
  not_usable: "error",
  too_large: "error",
  too_deep: "error",
  repeated_member: "error",
  wrong_type: "error",
  missing_member: "error",
  unknown_member: "error",
  unknown_word: "error",
  bad_name: "error",
  out_of_range: "error",
  empty: "error",
  repeated_word: "error",
  repeated_task: "error",
  golden_without_match: "error",
  rubric_without_criteria: "error",
  two_expectations: "error",
  weightless: "error",
  task_without_mode: "error",
  secret: "error",
  same_reference: "error",
  mode_without_task: "warning",
  weights_not_one: "warning",
  repeated_criterion: "warning",
  matches_anything: "warning",
  json_in_text: "warning",
  inexact_number: "warning",
  seed_without_content: "warning",
} as const satisfies Readonly<Record<string, "error" | "warning">>;

export type SuiteProblemCode = keyof typeof SUITE_PROBLEMS;

/** Problems never quote the suite: the text may be the secret that is reported. */
export interface SuiteProblem {
  readonly code: SuiteProblemCode;
  /** A warning does not keep the suite from being used. */
  readonly severity: "error" | "warning";
  /** JSON Pointer; empty is the whole suite. */
  readonly path: string;
  /** The error, as a phrase after the path. */
  readonly problem: string;
  readonly fix: string;
  /** Where a text was read. */
  readonly line?: number;
  readonly column?: number;
}

/** The number of listed problems; the count covers all of them. */
export const PROBLEMS_MAX = 1000;

/** Takes down everything that is found, in the order of the suite. */
export class ProblemList {
  readonly #listed: SuiteProblem[] = [];
  #errors = 0;
  #warnings = 0;

  add(code: SuiteProblemCode, path: string, problem: string, fix: string): void {
    const severity = SUITE_PROBLEMS[code];
    if (severity === "error") this.#errors++;
    else this.#warnings++;
    // An error behind a thousand warnings is still worth its place.
    if (this.#listed.length < PROBLEMS_MAX) this.#listed.push({ code, severity, path, problem, fix });
    else if (severity === "error") this.#replaceWarning({ code, severity, path, problem, fix });
  }

  get listed(): readonly SuiteProblem[] {
    return this.#listed;
  }

  get errors(): number {
    return this.#errors;
  }

  get warnings(): number {
    return this.#warnings;
  }

  #replaceWarning(error: SuiteProblem): void {
    if (this.#errors > PROBLEMS_MAX) return;
    const last = this.#listed.findLastIndex(({ severity }) => severity === "warning");
    if (last < 0) return;
    this.#listed.splice(last, 1);
    this.#listed.push(error);
  }
}
