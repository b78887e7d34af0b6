import type { Comparison, SuiteComparisons, Verdict } from "../protocol/evals/eval-statistics.ts";
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

type Unreasoned = Omit<Comparison, "reason">;

/** The reason of a verdict, for readers who have not seen the table. */
export function reasonFor(ruling: Ruling, comparison: Unreasoned): string {
  return [
    RULINGS[ruling](comparison),
    ...passesDisagree(ruling, comparison),
    ...settledBy(comparison),
    ...leftOut(comparison),
  ].join(" ");
}

const RULINGS: Readonly<Record<Ruling, (comparison: Unreasoned) => string>> = {
  too_few_pairs: ({ pairs }) =>
    `${pairs === 0 ? "No task" : `Only ${tasks(pairs)}`} could be compared; at least ${MIN_PAIRS} are needed.`,
  regressed: (c) => `${difference(c)}; chance alone seldom gives that (${test(c)}, below ${c.alpha}).`,
  improved: (c) => `${difference(c)}; chance alone seldom gives that (${test(c)}, below ${c.alpha}).`,
  within_margin: (c) => `${difference(c)}, within the margin of ${c.margin} both ways.`,
  suspect: (c) =>
    `${difference(c)}; that may be chance (${test(c)}), but it is a loss, and p is below ${SUSPECT_BELOW}.`,
  loss_possible: (c) =>
    `${difference(c)}; that may be chance (${test(c)}), but a loss of more than ${c.margin} cannot be ruled out.`,
  noise: (c) => `${difference(c)}; that may be chance (${test(c)}), and a loss of more than ${c.margin} is ruled out.`,
};

function difference({ measure, pairs, candidate, baseline, delta, interval, passFail }: Unreasoned): string {
  const what = measure === "pass_rate" ? "The pass rate" : "The mean score";
  const { lost, gained } = passFail;
  const moved =
    delta === 0
      ? `${what} is ${number(candidate.mean)} before and after`
      : `${what} went from ${number(baseline.mean)} to ${number(candidate.mean)}`;
  const range = `${signed(delta)}, 95 % interval ${signed(interval?.low)} to ${signed(interval?.high)}`;
  return `${moved} over ${tasks(pairs)} (${range}; ${lost} lost, ${gained} gained)`;
}

function test({ decidedBy, p, adjustedP }: Unreasoned): string {
  const name = decidedBy === "mcnemar" ? "McNemar's test" : "sign-flip test";
  const adjusted = adjustedP === undefined || adjustedP === p ? "" : `, ${probability(adjustedP)} among several suites`;
  return `${name}, p ${probability(p)}${adjusted}`;
}

/** Scores decide where there are any; what happened to passes must not go unsaid then. */
function passesDisagree(ruling: Ruling, { decidedBy, passFail, alpha }: Unreasoned): string[] {
  const { p, lost, gained } = passFail;
  if (decidedBy === "mcnemar" || ruling === "regressed" || p === null || p >= alpha || lost <= gained) return [];
  return [`Passes alone say more: ${lost} lost and ${gained} gained (McNemar's test, p ${probability(p)}).`];
}

function settledBy({ tasksNeeded, pairs, margin }: Unreasoned): string[] {
  if (!tasksNeeded || pairs === 0) return [];
  const { value, reason } = tasksNeeded;
  if (reason === "no_discordance") return ["No task changed, so nothing says how many would settle it."];
  if (value === null) return ["Too few tasks changed to say how many would settle it."];
  if (value <= pairs) {
    const enough = `${tasks(value)} are enough to see a difference of ${margin} four times out of five`;
    return [`${enough}, so this is a close call; more tasks would narrow it.`];
  }
  return [`About ${tasks(value)} would settle it (a difference of ${margin}, seen four times out of five).`];
}

function leftOut({ unpaired, unpairedModes, errored }: Unreasoned): string[] {
  const parts = [
    counted(unpaired.candidate.length, "only in the candidate"),
    counted(unpaired.baseline.length, "only in the baseline"),
    counted(errored.candidate.length, "with an error in the candidate"),
    counted(errored.baseline.length, "with an error in the baseline"),
    // A first baseline cannot have regression, which needs a baseline, and it repeats the other modes of the task.
    unpairedModes.candidate
      .filter(({ mode }) => mode !== "regression")
      .map((one) => `mode ${one.mode} of ${tasks(one.tasks)}, only in the candidate`),
    unpairedModes.baseline.map((one) => `mode ${one.mode} of ${tasks(one.tasks)}, only in the baseline`),
  ].flat();
  return parts.length === 0 ? [] : [`Not compared: ${parts.join(", ")}.`];
}

function counted(count: number, what: string): string[] {
  return count === 0 ? [] : [`${tasks(count)} ${what}`];
}

export function reasonForSuites(suites: SuiteComparisons["suites"], verdict: Verdict): string {
  if (suites.length === 0) return "No suite was compared.";
  const named = suites.filter(({ comparison }) => comparison.verdict === verdict).map(({ suite }) => suite);
  return `${named.length} of ${suites.length} ${suites.length === 1 ? "suite" : "suites"}: ${verdict} (${named.join(", ")}).`;
}

function tasks(count: number): string {
  return count === 1 ? "1 task" : `${count} tasks`;
}

function number(value: number | null | undefined): string {
  return String(Number((value ?? 0).toFixed(3)));
}

function signed(value: number | null | undefined): string {
  const text = number(value);
  return text === "-0" ? "0" : text.startsWith("-") || text === "0" ? text : `+${text}`;
}

function probability(p: number | null): string {
  return p === null ? "unknown" : p < 0.0001 ? "below 0.0001" : String(Number(p.toPrecision(3)));
}
