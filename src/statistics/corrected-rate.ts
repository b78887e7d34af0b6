import type { Rate } from "../protocol/evals/eval-statistics.ts";
import { undefinedRate } from "./estimate.ts";

/** The pass rate corrected for the judge's errors (Rogan and Gladen). Undefined for a judge no better than chance. */
export function correctedRate(
  observed: { readonly value: number; readonly count: number },
  judge: { readonly sensitivity: number; readonly specificity: number },
): Rate {
  const skill = judge.sensitivity + judge.specificity - 1;
  if (observed.count === 0) return undefinedRate("nothing_counted", 0);
  // Rounding makes 0.7 + 0.3 - 1 a hair off 0.
  if (skill < 1e-12) return undefinedRate("judge_no_better_than_chance", observed.count);
  const value = (observed.value + judge.specificity - 1) / skill;
  return { value: Math.min(1, Math.max(0, value)), count: observed.count };
}
