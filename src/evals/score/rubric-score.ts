import type { RubricCriterion } from "../../protocol/evals/eval-suite.ts";

/** The weight of what is met as a part of all weight, from 0 to 1. `met` has an answer for each criterion, in order. */
export function rubricScore(rubric: readonly RubricCriterion[], met: readonly boolean[]): number {
  const all = total(rubric);
  if (met.length !== rubric.length || all === 0)
    throw new RangeError("a rubric needs weight, and an answer for each criterion");
  return Math.min(1, total(rubric.filter((_, i) => met[i])) / all);
}

function total(criteria: readonly RubricCriterion[]): number {
  return criteria.reduce((sum, { weight }) => sum + weight, 0);
}
