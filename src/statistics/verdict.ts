import type { Verdict } from "../protocol/evals/eval-statistics.ts";
import type { Interval } from "./wilson.ts";

export const MIN_PAIRS = 5;
export const SUSPECT_BELOW = 0.2;

export interface Evidence {
  readonly pairs: number;
  readonly delta: number;
  readonly p: number;
  readonly interval: Interval;
}

export interface Limits {
  readonly alpha: number;
  readonly margin: number;
}

/** The row of the table that decided; two rows have the same verdict for different reasons. */
export type Ruling =
  | "too_few_pairs"
  | "regressed"
  | "improved"
  | "within_margin"
  | "suspect"
  | "loss_possible"
  | "noise";

/** The first row that applies. */
export function rulingOf(evidence: Evidence | null, { alpha, margin }: Limits): Ruling {
  if (!evidence || evidence.pairs < MIN_PAIRS) return "too_few_pairs";
  const { delta, p, interval } = evidence;
  if (p < alpha && delta < 0) return "regressed";
  if (p < alpha && delta > 0) return "improved";
  const bound = margin + 1e-12;
  if (interval.low >= -bound && interval.high <= bound) return "within_margin";
  if (delta < 0 && p < SUSPECT_BELOW) return "suspect";
  if (interval.low < -bound) return "loss_possible";
  return "noise";
}

export const VERDICT_OF: Readonly<Record<Ruling, Verdict>> = {
  too_few_pairs: "not_enough_data",
  regressed: "regressed",
  improved: "improved",
  within_margin: "noise",
  suspect: "suspect",
  loss_possible: "not_enough_data",
  noise: "noise",
};
