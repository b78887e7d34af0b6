import { validationError } from "../protocol/errors.ts";
import type { Comparison, PassFailTest, SuiteComparisons, TasksNeeded } from "../protocol/evals/eval-statistics.ts";
import { VERDICTS } from "../protocol/evals/eval-statistics.ts";
import { bootstrapMean } from "./bootstrap.ts";
import { type Pair, pairTasks, type TaskResult } from "./pair-tasks.ts";
import { meanOf } from "./rates.ts";
import { holm, mcnemar, signFlipTest, tasksNeeded } from "./significance.ts";
import { type Limits, MIN_PAIRS, type Ruling, reasonFor, reasonForSuites, rulingOf, VERDICT_OF } from "./verdict.ts";

export interface ComparisonSettings extends Limits {
  readonly seed: number;
}
export const COMPARISON_DEFAULTS: ComparisonSettings = { alpha: 0.05, margin: 0.05, seed: 1 };

export interface Sides {
  readonly candidate: readonly TaskResult[];
  readonly baseline: readonly TaskResult[];
}

/** Whether the candidate differs from its baseline on the tasks and modes that both have. Both are of the same version of a suite. */
export function compare(sides: Sides, settings: Partial<ComparisonSettings> = {}): Comparison {
  const checked = checkedSettings(settings);
  return withVerdict(measured(sides, checked), checked);
}

/** Several suites in one decision: their p-values are adjusted by Holm, and the worst verdict is that of all. */
export function compareSuites(
  suites: readonly (Sides & { readonly suite: string })[],
  settings: Partial<ComparisonSettings> = {},
): SuiteComparisons {
  const checked = checkedSettings(settings);
  const figures = suites.map((sides) => measured(sides, checked));
  const adjusted = holm(figures.map(({ p }) => p));
  const compared = figures.map((figure, i) => ({
    suite: suites[i]?.suite ?? "",
    comparison: withVerdict(figure, checked, adjusted[i] ?? undefined),
  }));
  // A comparison without pairs has no verdict.
  const verdict =
    VERDICTS.filter((verdict) => verdict !== "noise").find((verdict) =>
      compared.some(({ comparison }) => comparison.verdict === verdict),
    ) ?? (compared.length > 0 ? "noise" : "not_enough_data");
  return { verdict, reason: reasonForSuites(compared, verdict), suites: compared };
}

function checkedSettings(settings: Partial<ComparisonSettings>): ComparisonSettings {
  const { alpha, margin, seed } = { ...COMPARISON_DEFAULTS, ...settings };
  if (!(alpha > 0 && alpha < 1)) throw validationError("alpha must be above 0 and below 1");
  if (!(margin > 0 && margin <= 1)) throw validationError("margin must be above 0 and at most 1");
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
    throw validationError("seed must be a whole number of 32 bits");
  return { alpha, margin, seed };
}

type Measured = Omit<Comparison, "verdict" | "reason" | "adjustedP" | "tasksNeeded" | "alpha" | "margin"> & {
  readonly discordance: number;
};

function measured({ candidate, baseline }: Sides, { seed }: ComparisonSettings): Measured {
  const { pairs, unpaired, errored, unpairedModes } = pairTasks(candidate, baseline);
  const binary = pairs.every((pair) =>
    [pair.candidate, pair.baseline].every(({ score }) => score === 0 || score === 1),
  );
  // A task can fail with a score of 1, by what was found in its output. Where scores say no more than pass or fail, passing counts.
  const value = (result: Pair["candidate"]) => (binary ? Number(result.passed) : result.score);
  const after = pairs.map((pair) => value(pair.candidate));
  const before = pairs.map((pair) => value(pair.baseline));
  const differences = after.map((score, i) => score - (before[i] as number));
  const lost = pairs.filter((pair) => pair.baseline.passed && !pair.candidate.passed).map(({ taskId }) => taskId);
  const gained = pairs.filter((pair) => !pair.baseline.passed && pair.candidate.passed).map(({ taskId }) => taskId);
  const passFail = passFailTest(pairs.length, lost.length, gained.length);
  const scores = signFlipTest(differences, seed);
  const interval = bootstrapMean(differences, seed);
  const some = pairs.length > 0;
  return {
    pairs: pairs.length,
    unpaired,
    unpairedModes,
    errored,
    measure: binary ? "pass_rate" : "score",
    candidate: { mean: some ? meanOf(after) : null, count: pairs.length },
    baseline: { mean: some ? meanOf(before) : null, count: pairs.length },
    delta: some ? meanOf(differences) : null,
    interval: interval && { ...interval, method: "bootstrap", seed },
    decidedBy: binary ? "mcnemar" : "sign_flip",
    p: binary ? passFail.p : scores.p,
    passFail,
    scores,
    lost,
    gained,
    discordance: some ? meanOf(differences.map((difference) => difference ** 2)) : 0,
  };
}

function passFailTest(pairs: number, lost: number, gained: number): PassFailTest {
  if (pairs === 0) return { test: "mcnemar", p: null, reason: "nothing_counted", lost, gained };
  return { test: "mcnemar", p: mcnemar(lost, gained), lost, gained };
}

function withVerdict({ discordance, ...figures }: Measured, { alpha, margin }: Limits, adjustedP?: number): Comparison {
  const { pairs, delta, interval } = figures;
  const p = adjustedP ?? figures.p;
  const evidence = delta !== null && p !== null && interval !== null ? { pairs, delta, p, interval } : null;
  const ruling = rulingOf(evidence, { alpha, margin });
  const unreasoned = {
    ...figures,
    verdict: VERDICT_OF[ruling],
    ...(adjustedP === undefined ? {} : { adjustedP }),
    ...(isOpen(ruling) ? { tasksNeeded: atLeastMinPairs(tasksNeeded(discordance, margin)) } : {}),
    alpha,
    margin,
  };
  return { ...unreasoned, reason: reasonFor(ruling, unreasoned) };
}

function isOpen(ruling: Ruling): boolean {
  return VERDICT_OF[ruling] === "not_enough_data" || ruling === "suspect";
}

function atLeastMinPairs(needed: TasksNeeded): TasksNeeded {
  return needed.value === null ? needed : { ...needed, value: Math.max(MIN_PAIRS, needed.value) };
}
