import { AppError } from "../../protocol/errors.ts";

export interface TaskResult {
  readonly taskId: string;
  /** Null when no trial of the task could be scored: an error says nothing about the agent's answers. */
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

export interface Pairing {
  readonly pairs: readonly Pair[];
  readonly unpaired: { readonly candidate: string[]; readonly baseline: string[] };
  readonly errored: { readonly candidate: string[]; readonly baseline: string[] };
}

/** By task id, in the order of the candidate. Every task of either side is in a pair, unpaired, or errored. */
export function pairTasks(candidate: readonly TaskResult[], baseline: readonly TaskResult[]): Pairing {
  const after = byId(candidate, "candidate");
  const before = byId(baseline, "baseline");
  const pairs = [...after.values()].flatMap((result) => {
    const other = before.get(result.taskId);
    return other && isScored(result) && isScored(other)
      ? [{ taskId: result.taskId, candidate: result, baseline: other }]
      : [];
  });
  return {
    pairs,
    unpaired: { candidate: onlyIn(after, before), baseline: onlyIn(before, after) },
    errored: { candidate: erroredOf(after), baseline: erroredOf(before) },
  };
}

function byId(results: readonly TaskResult[], side: string): Map<string, TaskResult> {
  const found = new Map<string, TaskResult>();
  for (const result of results) {
    const { taskId, score } = result;
    if (found.has(taskId)) throw invalid(`the ${side} has two results of task ${taskId}`);
    if (score !== null && !(score >= 0 && score <= 1))
      throw invalid(`the ${side}'s score of task ${taskId} is not between 0 and 1`);
    found.set(taskId, result);
  }
  return found;
}

function invalid(problem: string): AppError {
  return new AppError("validation_error", { problem });
}

function isScored(result: TaskResult): result is TaskResult & ScoredTask {
  return result.score !== null;
}

function onlyIn(some: Map<string, TaskResult>, others: Map<string, TaskResult>): string[] {
  return [...some.keys()].filter((taskId) => !others.has(taskId));
}

function erroredOf(results: Map<string, TaskResult>): string[] {
  return [...results.values()].filter((result) => !isScored(result)).map(({ taskId }) => taskId);
}
