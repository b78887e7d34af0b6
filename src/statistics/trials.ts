import type { Rate } from "../protocol/evals/eval-statistics.ts";
import { undefinedRate } from "./estimate.ts";

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
