import type { Estimate, NoFigure, Rate } from "../protocol/evals/eval-statistics.ts";
import { bootstrapMean } from "./bootstrap.ts";
import { wilson } from "./wilson.ts";

/** A share: Wilson's interval. */
export function share(successes: number, count: number): Estimate {
  const interval = wilson(successes, count);
  if (!interval) return undefinedEstimate("nothing_counted");
  return { value: successes / count, count, interval: { ...interval, method: "wilson" } };
}

/**
 * The mean of one value per task. Tasks are resampled, not trials: trials of one task are not independent of each other. When
 * every task has 0 or 1 the mean is a share of tasks and has Wilson's interval, which also has a width where all values are equal.
 */
export function meanOverTasks(values: readonly number[], seed: number): Estimate {
  const count = values.length;
  if (count === 0) return undefinedEstimate("nothing_counted");
  if (values.every((value) => value === 0 || value === 1))
    return share(values.filter((value) => value === 1).length, count);
  const value = meanOf(values);
  const interval = bootstrapMean(values, seed);
  // An interval of no width would claim certainty.
  if (!interval || interval.low === interval.high) {
    return { value, count, interval: null, intervalReason: "no_variation" };
  }
  return { value, count, interval: { ...interval, method: "bootstrap", seed } };
}

/**
 * Summed in sorted order, so that the order of the values does not change the last digit; the result stays within their range.
 */
export function meanOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return Math.min(Math.max(mean, sorted[0] as number), sorted[sorted.length - 1] as number);
}

export function undefinedEstimate(reason: NoFigure, count = 0): Estimate {
  return { value: null, reason, count, interval: null, intervalReason: reason };
}

export function undefinedRate(reason: NoFigure, count: number): Rate {
  return { value: null, reason, count };
}

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

/** The chance that at least one of `k` trials passes, without bias, from `passed` of `trials`. */
export function passAtK(trials: number, passed: number, k: number): Rate {
  if (!isPossible(trials, k)) return undefinedRate("fewer_trials_than_k", trials);
  return { value: 1 - drawnFrom(trials - passed, trials, k), count: trials };
}

/** The chance that all of `k` trials pass (pass^k), likewise. */
export function passHatK(trials: number, passed: number, k: number): Rate {
  if (!isPossible(trials, k)) return undefinedRate("fewer_trials_than_k", trials);
  return { value: drawnFrom(passed, trials, k), count: trials };
}

export function isFlaky(trials: number, passed: number): boolean {
  return passed > 0 && passed < trials;
}

function isPossible(trials: number, k: number): boolean {
  return k >= 1 && k <= trials;
}

/** C(some, k) / C(all, k), factor by factor: the binomials themselves outgrow a number. */
function drawnFrom(some: number, all: number, k: number): number {
  let share = 1;
  for (let i = 0; i < k && share > 0; i++) share *= (some - i) / (all - i);
  return share;
}
