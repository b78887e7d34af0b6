import { validationError } from "../protocol/errors.ts";
import type { Aggregate, Estimate, NoFigure, Rate, TaskFigures } from "../protocol/evals/eval-statistics.ts";
import { isFlaky, meanOf, meanOverTasks, passAtK, passHatK, share, undefinedEstimate, undefinedRate } from "./rates.ts";

interface Spent {
  /** The mode of its pass; trials without one are one pass. */
  readonly mode?: string;
  readonly latencyMs?: number;
  /** Absent: not known, which is not 0. */
  readonly costUsd?: number;
}

/** An error is no failure: there is no answer to score, which does not mean that the answer is wrong. */
export type Trial = Spent &
  ({ readonly score: number; readonly passed: boolean } | { readonly error: { readonly code: string } });

export interface TaskTrials {
  readonly taskId: string;
  /** The score from which on the task passes. */
  readonly bar: number;
  /** Something was found in an output that fails the task whatever its score. */
  readonly vetoed?: boolean;
  readonly trials: readonly Trial[];
}

export interface AggregateSettings {
  readonly seed: number;
  /** The values of k for pass@k and pass^k. Default: 1, and the largest number of trials of a task. */
  readonly ks?: readonly number[];
}

/** Averages each pass of a task first, takes the lowest pass of each task, then averages over tasks. */
export function aggregate(
  tasks: readonly TaskTrials[],
  { seed, ks = defaultKs(tasks) }: AggregateSettings,
): { readonly tasks: TaskFigures[]; readonly aggregate: Aggregate } {
  check(tasks, ks);
  const figures = tasks.map((task) => taskFigures(task, ks));
  const trials = tasks.flatMap((task) => task.trials);
  const scored = figures.filter((task) => task.score !== null);
  const scores = scored.map(({ score }) => score as number);
  const passed = scored.filter((task) => task.passed).length;
  const errors = trials.flatMap((trial) => ("error" in trial ? [trial.error.code] : []));
  return {
    tasks: figures,
    aggregate: {
      tasks: {
        total: tasks.length,
        scored: scored.length,
        passed,
        flaky: figures.filter(({ flaky }) => flaky).length,
        errored: tasks.length - scored.length,
      },
      trials: {
        total: trials.length,
        scored: trials.length - errors.length,
        passed: figures.reduce((sum, task) => sum + task.trials.passed, 0),
        errors: errors.length,
      },
      errorsByCode: countsOf(errors),
      score: meanOverTasks(scores, seed),
      scoreAtLeast: atLeast(scores, tasks.length),
      passRate: share(passed, scored.length),
      atK: ks.map((k, i) => ({
        k,
        passAtK: overTasks(
          figures.map((task) => task.atK[i]?.passAtK),
          seed,
        ),
        passHatK: overTasks(
          figures.map((task) => task.atK[i]?.passHatK),
          seed,
        ),
      })),
      latency: latencyOf(trials),
      cost: costOf(trials),
      seed,
    },
  };
}

/** Figures of each task alone. */
export function figuresOfTasks(tasks: readonly TaskTrials[]): TaskFigures[] {
  const ks = defaultKs(tasks);
  check(tasks, ks);
  return tasks.map((task) => taskFigures(task, ks));
}

function defaultKs(tasks: readonly TaskTrials[]): number[] {
  const most = tasks.reduce((most, task) => Math.max(most, trialsPerPass(task)), 1);
  return most === 1 ? [1] : [1, most];
}

function trialsPerPass({ trials }: TaskTrials): number {
  const counts = new Map<string | undefined, number>();
  for (const { mode } of trials) counts.set(mode, (counts.get(mode) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

function check(tasks: readonly TaskTrials[], ks: readonly number[]): void {
  const seen = new Set<string>();
  for (const { taskId, trials } of tasks) {
    if (seen.has(taskId)) throw validationError(`task ${taskId} is there twice`);
    seen.add(taskId);
    for (const trial of trials) {
      if ("score" in trial && !(trial.score >= 0 && trial.score <= 1)) {
        throw validationError(`a score of task ${taskId} is not between 0 and 1`);
      }
      if (!isAmount(trial.latencyMs) || !isAmount(trial.costUsd)) {
        throw validationError(`a latency or cost of task ${taskId} is not a number of 0 or more`);
      }
    }
  }
  if (!ks.every((k) => Number.isInteger(k) && k >= 1)) throw validationError("k must be a whole number of 1 or more");
}

function isAmount(value: number | undefined): boolean {
  return value === undefined || (Number.isFinite(value) && value >= 0);
}

/** Passes of one task are no independent tasks: the task has the lowest score among them, and passes only if each of them does. */
function taskFigures(task: TaskTrials, ks: readonly number[]): TaskFigures {
  const modes = [...new Set(task.trials.map(({ mode }) => mode))];
  if (modes.length <= 1) return passFigures(task, ks);
  const passes = modes.map((mode) => {
    return passFigures({ ...task, trials: task.trials.filter((trial) => trial.mode === mode) }, ks);
  });
  const scores = passes.flatMap(({ score }) => score ?? []);
  const sum = (of: keyof TaskFigures["trials"]) => passes.reduce((total, { trials }) => total + trials[of], 0);
  return {
    // Cost, latency and counts are those of all trials.
    ...passFigures(task, ks),
    score: scores.length < passes.length ? null : Math.min(...scores),
    passed: passes.every(({ passed }) => passed),
    flaky: passes.some(({ flaky }) => flaky),
    trials: { scored: sum("scored"), passed: sum("passed"), errors: sum("errors") },
    atK: ks.map((k, i) => ({
      k,
      passAtK: lowest(passes.map(({ atK }) => atK[i]?.passAtK)),
      passHatK: lowest(passes.map(({ atK }) => atK[i]?.passHatK)),
    })),
  };
}

/** The lowest of the rates; one that is not known leaves it unknown. */
function lowest(rates: readonly (Rate | undefined)[]): Rate {
  return rates.reduce<Rate>((least, rate = undefinedRate("nothing_counted", 0)) => {
    if (least.value === null) return least;
    return rate.value === null || rate.value < least.value ? rate : least;
  }, rates[0] ?? undefinedRate("nothing_counted", 0));
}

function passFigures({ taskId, bar, vetoed, trials }: TaskTrials, ks: readonly number[]): TaskFigures {
  const results = trials.flatMap((trial) => ("score" in trial ? [trial] : []));
  const count = results.length;
  const passes = results.filter(({ passed }) => passed).length;
  const score = count === 0 ? null : meanOf(results.map(({ score }) => score));
  const latencies = known(trials, "latencyMs");
  const costs = known(trials, "costUsd");
  return {
    taskId,
    score,
    // Rounding makes the mean of 0, 0.1 and 0.5 a hair less than 0.2.
    passed: score !== null && !vetoed && score >= bar - 1e-9,
    flaky: isFlaky(count, passes),
    trials: { scored: count, passed: passes, errors: trials.length - count },
    atK: ks.map((k) => ({ k, passAtK: passAtK(count, passes, k), passHatK: passHatK(count, passes, k) })),
    latencyMs: latencies.length === 0 ? null : meanOf(latencies),
    costUsd: costs.length === 0 ? null : dollars(costs),
  };
}

function atLeast(scores: readonly number[], tasks: number): Rate {
  if (tasks === 0) return undefinedRate("nothing_counted", 0);
  return { value: meanOf([...scores, ...Array.from({ length: tasks - scores.length }, () => 0)]), count: tasks };
}

/** Tasks with fewer scored trials than k have no such figure and are left out; the count is the number of the others. */
function overTasks(rates: readonly (Rate | undefined)[], seed: number): Estimate {
  const values = rates.flatMap((rate) => (typeof rate?.value === "number" ? [rate.value] : []));
  const none: NoFigure = rates.length === 0 ? "nothing_counted" : "fewer_trials_than_k";
  return values.length === 0 ? undefinedEstimate(none) : meanOverTasks(values, seed);
}

/** Latency covers all trials, also those with an error: a timeout took its time. */
export function latencyOf(trials: readonly Trial[]): Aggregate["latency"] {
  const sorted = Float64Array.from(known(trials, "latencyMs")).sort();
  const method = "nearest_rank";
  if (sorted.length === 0) return { p95Ms: null, reason: "no_latency_known", count: 0, method };
  const rank = Math.ceil(0.95 * sorted.length);
  return { p95Ms: sorted[rank - 1] as number, count: sorted.length, method };
}

function costOf(trials: readonly Trial[]): Aggregate["cost"] {
  const costs = known(trials, "costUsd");
  const counts = { count: costs.length, unknown: trials.length - costs.length };
  if (costs.length === 0) return { totalUsd: null, reason: "no_cost_known", ...counts };
  return { totalUsd: dollars(costs), ...counts };
}

/** Rounded to the billionth: three times 0.1 is 0.3 and does not exceed a budget of 0.3. */
function dollars(costs: readonly number[]): number {
  return Math.round(costs.reduce((sum, cost) => sum + cost, 0) * 1e9) / 1e9;
}

function known(trials: readonly Trial[], what: "latencyMs" | "costUsd"): number[] {
  return trials.flatMap((trial) => trial[what] ?? []);
}

function countsOf(codes: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
