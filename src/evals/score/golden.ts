import { isTurnSpent, ownTurn } from "../../engine/worker/pauses.ts";
import { holdsText } from "../../formats/text/find-text.ts";
import type { GoldenMatch } from "../../protocol/evals/eval-suite.ts";
import { type Difference, differenceOf } from "./difference.ts";
import { isTooDeep, jsonMatches, OUTPUT_DEPTH_MAX, outputText } from "./output-text.ts";

export interface GoldenScore {
  readonly score: 0 | 1;
  /** Quotes what was expected and what came: for the eyes of those who may read the task, never for an event. */
  readonly difference?: Difference;
}

/** Scores 0 or 1, and the same for the same output. */
export function scoreGolden(match: GoldenMatch, output: unknown): GoldenScore {
  if (isTooDeep(output)) {
    const summary = `The output is nested deeper than ${OUTPUT_DEPTH_MAX} levels; it was not compared.`;
    return { score: 0, difference: { kind: "none", summary } };
  }
  if (isMatch(match, output)) return { score: 1 };
  return { score: 0, difference: differenceOf(match, output) };
}

/** The score alone: a difference takes longer to find. */
export function goldenScore(match: GoldenMatch, output: unknown): 0 | 1 {
  return !isTooDeep(output) && isMatch(match, output) ? 1 : 0;
}

/**
 * How an output that did not match differs, for readers who may see the task but no secret. Both sides are cleaned before they are
 * compared: a difference could have the name of a secret in one place and its value in another.
 */
export async function shownDifference(
  match: GoldenMatch,
  output: unknown,
  clean: (value: unknown) => Promise<unknown>,
): Promise<Difference> {
  const cleaned = { match: { ...match, value: await clean(match.value) }, output: await clean(output) };
  if (isTurnSpent()) await ownTurn();
  const { difference = HIDDEN } = scoreGolden(cleaned.match, cleaned.output);
  return difference;
}

const HIDDEN: Difference = { kind: "none", summary: "What differs looks like a secret and is not shown." };

function isMatch({ strategy, value }: GoldenMatch, output: unknown): boolean {
  switch (strategy) {
    case "exact":
      return outputText(output) === outputText(value);
    case "contains":
      return holdsText(outputText(output), outputText(value));
    case "json-match":
      return jsonMatches(value, output);
  }
}
