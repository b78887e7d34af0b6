import { validationError } from "../protocol/errors.ts";
import type { EvalMode } from "../protocol/evals/eval-suite.ts";

export interface TaskResult {
  readonly taskId: string;
  /** Null when no trial of the task could be scored: an error gives no information about the agent's answers. */
  readonly score: number | null;
  readonly passed: boolean;
  /** The task in each mode it was run in. Absent or empty: one pass, of whatever modes there were. */
  readonly passes?: readonly TaskPass[];
}

export interface TaskPass {
  readonly mode: EvalMode;
  readonly score: number | null;
  readonly passed: boolean;
}

export interface Pair {
  readonly taskId: string;
  readonly candidate: ScoredTask;
  readonly baseline: ScoredTask;
}

interface ScoredTask {
  readonly score: number;
  readonly passed: boolean;
}

interface OfSides<T> {
  readonly candidate: T;
  readonly baseline: T;
}

export interface ModeCount {
  readonly mode: EvalMode;
  readonly tasks: number;
}

export interface Pairing {
  readonly pairs: readonly Pair[];
  /** Tasks that only one side has, or that have no mode in common. */
  readonly unpaired: OfSides<string[]>;
  readonly errored: OfSides<string[]>;
  /** For tasks of both sides: the modes that only one side has, with the number of tasks. */
  readonly unpairedModes: OfSides<ModeCount[]>;
}

/**
 * By task id, in the order of the candidate, over the modes that both sides have of the task: on each side the lowest score of those
 * passes, passed only where each of them passed. Every task of either side is in a pair, unpaired, or errored.
 */
export function pairTasks(candidate: readonly TaskResult[], baseline: readonly TaskResult[]): Pairing {
  const after = byId(candidate, "candidate");
  const before = byId(baseline, "baseline");
  const shared = [...after.values()].flatMap((result) => {
    const other = before.get(result.taskId);
    return other === undefined ? [] : (sharedPart(result, other) ?? []);
  });
  const common = new Set(shared.map(({ candidate: { taskId } }) => taskId));
  return {
    pairs: shared.flatMap(({ candidate: one, baseline: other }) =>
      isScored(one) && isScored(other) ? [{ taskId: one.taskId, candidate: one, baseline: other }] : [],
    ),
    unpaired: { candidate: without(after, common), baseline: without(before, common) },
    errored: {
      candidate: [...erroredOf(shared.map((one) => one.candidate)), ...erroredAlone(after, common)],
      baseline: [...erroredOf(shared.map((one) => one.baseline)), ...erroredAlone(before, common)],
    },
    unpairedModes: {
      candidate: countModes(shared.flatMap(({ leftOut }) => leftOut.candidate)),
      baseline: countModes(shared.flatMap(({ leftOut }) => leftOut.baseline)),
    },
  };
}

/** Mean difference over the tasks that both have, in the modes that both have; a task without a score counts as 0. Null without such tasks. */
export function sharedDelta(candidate: readonly TaskResult[], baseline: readonly TaskResult[]): number | null {
  const before = byId(baseline, "baseline");
  const differences = candidate.flatMap((result) => {
    const other = before.get(result.taskId);
    const part = other === undefined ? undefined : sharedPart(result, other);
    return part === undefined ? [] : [(part.candidate.score ?? 0) - (part.baseline.score ?? 0)];
  });
  if (differences.length === 0) return null;
  // Rounded to the billionth: three times 0.1 is 0.3.
  const sum = Math.round(differences.reduce((total, one) => total + one, 0) * 1e9) / 1e9;
  return Math.min(1, Math.max(-1, sum / differences.length));
}

interface SharedPart extends OfSides<TaskResult> {
  /** Modes that only that side has. */
  readonly leftOut: OfSides<EvalMode[]>;
}

/** Undefined where both sides have modes and none in common. Where one side has no modes, both are taken whole. */
function sharedPart(candidate: TaskResult, baseline: TaskResult): SharedPart | undefined {
  const [mine = [], theirs = []] = [candidate.passes, baseline.passes];
  if (mine.length === 0 || theirs.length === 0)
    return { candidate, baseline, leftOut: { candidate: [], baseline: [] } };
  const both = modesInBoth(mine, theirs);
  if (both.length === 0) return undefined;
  const here = both.map((pair) => pair.candidate);
  const there = both.map((pair) => pair.baseline);
  return {
    candidate: lowestOf(candidate.taskId, here),
    baseline: lowestOf(baseline.taskId, there),
    leftOut: { candidate: modesWithout(mine, here), baseline: modesWithout(theirs, there) },
  };
}

/** Modes that score a task by its expectation with its fixtures: regression is golden or rubric once more. */
const AS_EXPECTED: readonly EvalMode[] = ["golden", "rubric", "regression"];

/** Where one side has regression only and the other the task's own mode only, these two are the same measurement. */
function modesInBoth(mine: readonly TaskPass[], theirs: readonly TaskPass[]): OfSides<TaskPass>[] {
  const equal = mine.flatMap((one) => {
    const other = theirs.find(({ mode }) => mode === one.mode);
    return other === undefined ? [] : [{ candidate: one, baseline: other }];
  });
  if (equal.some(({ candidate: { mode } }) => AS_EXPECTED.includes(mode))) return equal;
  const one = mine.find(({ mode }) => AS_EXPECTED.includes(mode));
  const other = theirs.find(({ mode }) => AS_EXPECTED.includes(mode));
  return one === undefined || other === undefined ? equal : [{ candidate: one, baseline: other }, ...equal];
}

function lowestOf(taskId: string, passes: readonly TaskPass[]): TaskResult {
  const scores = passes.flatMap(({ score }) => score ?? []);
  const score = scores.length < passes.length ? null : Math.min(...scores);
  return { taskId, score, passed: score !== null && passes.every(({ passed }) => passed) };
}

function modesWithout(passes: readonly TaskPass[], taken: readonly TaskPass[]): EvalMode[] {
  return passes.filter((pass) => !taken.includes(pass)).map(({ mode }) => mode);
}

function countModes(modes: readonly EvalMode[]): ModeCount[] {
  const counts = new Map<EvalMode, number>();
  for (const mode of modes) counts.set(mode, (counts.get(mode) ?? 0) + 1);
  return [...counts].map(([mode, tasks]) => ({ mode, tasks }));
}

function byId(results: readonly TaskResult[], side: string): Map<string, TaskResult> {
  const found = new Map<string, TaskResult>();
  for (const result of results) {
    const { taskId, score } = result;
    if (found.has(taskId)) throw validationError(`the ${side} has two results of task ${taskId}`);
    if (score !== null && !(score >= 0 && score <= 1))
      throw validationError(`the ${side}'s score of task ${taskId} is not between 0 and 1`);
    found.set(taskId, result);
  }
  return found;
}

function isScored(result: TaskResult): result is TaskResult & ScoredTask {
  return result.score !== null;
}

function without(results: Map<string, TaskResult>, common: ReadonlySet<string>): string[] {
  return [...results.keys()].filter((taskId) => !common.has(taskId));
}

function erroredOf(results: readonly TaskResult[]): string[] {
  return results.filter((result) => !isScored(result)).map(({ taskId }) => taskId);
}

function erroredAlone(results: Map<string, TaskResult>, common: ReadonlySet<string>): string[] {
  return erroredOf([...results.values()].filter(({ taskId }) => !common.has(taskId)));
}
