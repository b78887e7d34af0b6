import { AppError } from "../../protocol/errors.ts";
import type { GoldenMatch } from "../../protocol/evals/eval-suite.ts";

export interface Expectation {
  readonly match: GoldenMatch;
  /** The correction as the agent would have answered it. */
  readonly answer: unknown;
}

/**
 * The expectation that follows from a correction. Corrections are texts; where the agent answers JSON the text is parsed, and
 * compared without regard to white space and the order of members. Throws `validation_error` for a correction that no answer of
 * the agent could equal.
 */
export function expectedOf(correction: string, outputs: readonly unknown[]): Expectation {
  const json = parsed(correction);
  const values = outputs.filter((output) => typeof output !== "string");
  if (values.length > 0) {
    if (json !== undefined) return { match: { strategy: "json-match", value: json.value }, answer: json.value };
    throw new AppError("validation_error", {
      problem:
        "the agent answered JSON, and the correction is no JSON; correct it with the whole answer as it should have been",
    });
  }
  // Few mean a number or a word in quotes when they correct a text with one.
  const answersJson = outputs.length === 0 || outputs.some((output) => isBranch(parsed(String(output))));
  if (answersJson && isBranch(json)) {
    return { match: { strategy: "json-match", value: json?.value }, answer: correction };
  }
  return { match: { strategy: "exact", value: correction }, answer: correction };
}

function isBranch(read: { readonly value: unknown } | undefined): boolean {
  return typeof read?.value === "object" && read.value !== null;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
