import type { EvalNotRun, EvalReport, NotRunReason } from "../../protocol/evals/api.ts";
import type { EvalEntry } from "../../protocol/evals/baselines.ts";

export const CONCLUSIONS = ["passed", "failed", "not_configured", "unreachable", "no_verdict"] as const;

/** The conclusion of an evaluation in one word and in sentences, which quote no task and no output. */
export interface Conclusion {
  readonly verdict: (typeof CONCLUSIONS)[number];
  readonly exitCode: number;
  readonly sentence: string;
  /** The reasons why it did not pass; empty when it did. */
  readonly reasons: readonly string[];
  /** Warnings for readers who only see that it passed. */
  readonly warnings: readonly string[];
}

export interface EvalOutcome {
  readonly entry: EvalEntry;
  /** For a stopped evaluation, the completed part; absent while it has not ended. */
  readonly report?: EvalReport;
  readonly conclusion: Conclusion;
  /** Lines that quote expected and actual outputs, by task; absent when nothing is to be quoted. */
  readonly quotes?: ReadonlyMap<string, readonly string[]>;
  /** The places of the tasks in files, by task. */
  readonly places?: ReadonlyMap<string, TaskPlace>;
}

export interface TaskPlace {
  /** Relative, with slashes. */
  readonly file: string;
  readonly line: number;
}

/** Warnings that the sentence does not repeat. */
export function otherWarnings({ warnings, sentence }: Conclusion): string[] {
  return warnings.filter((warning) => !sentence.toLowerCase().includes(warning.toLowerCase()));
}

/** A row of a table; none without a value. */
export function rowIf(name: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}

/** Members that mark the files of a stopped evaluation; empty for a completed one. */
export function partialMarks({ report }: EvalOutcome): Readonly<Record<string, string>> {
  if (report?.stopped === undefined) return {};
  const { tasksDone, tasksPlanned } = report.stopped;
  return { complete: "false", tasksDone: String(tasksDone), tasksPlanned: String(tasksPlanned) };
}

/** Follows the name of a baseline that was imported from a file. */
export function importedMark({ fileSha256 }: { readonly fileSha256?: string }): string {
  return fileSha256 === undefined ? "" : " (imported)";
}

export type OutcomeTask = EvalReport["tasks"][number];

/** The state of a task for counts: an error means that there is no answer to evaluate. */
export function taskState({ passed, score }: Pick<OutcomeTask, "passed" | "score">): "passed" | "failed" | "error" {
  if (passed) return "passed";
  return score === null ? "error" : "failed";
}

function unscoredModes({ passes }: OutcomeTask): string {
  return passes
    .filter((pass) => pass.score === null)
    .map(({ mode }) => mode)
    .join(", ");
}

/** The reason why a task did not pass, without any of its content. */
export function taskProblem(task: OutcomeTask): string {
  const { score, trials, findings, cached, passes } = task;
  const codes = [...new Set(task.errors.map(({ code }) => code))].join(", ");
  const isPartial = trials.scored > 0 ? `, in mode ${unscoredModes(task)}` : "";
  if (score === null) return `no trial could be scored${isPartial}${codes === "" ? "" : `: ${codes}`}`;
  const severe = findings.filter(({ severity }) => severity === "high" || severity === "critical");
  const total = trials.scored + trials.errors;
  return [
    ...(passes.length > 1 ? [passes.map((pass) => `${pass.mode} ${scoreText(pass.score)}`).join(", ")] : []),
    ...(trials.scored > passes.length && trials.scored > 1
      ? [`${trials.passed} of ${trials.scored} scored trials passed`]
      : []),
    `score ${figure(score)}`,
    ...severe.map(({ kind, severity }) => `finding ${kind} (${severity})`),
    ...(trials.errors > 0 ? [`${trials.errors} of ${total} trials ended in an error: ${codes}`] : []),
    ...(cached > 0 ? [total === 1 ? "from the cache" : `${cached} of ${total} trials from the cache`] : []),
  ].join("; ");
}

function scoreText(score: number | null): string {
  return score === null ? "without a score" : figure(score);
}

/** A suite of some hundred tasks is not exact beyond three digits. */
export function figure(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}

/** Foreign text without characters that only some programs can read: control characters and lone surrogates. */
export function plainText(text: string): string {
  return text.toWellFormed().replace(UNREADABLE, "\ufffd");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNREADABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g;

const TEXTS: Readonly<Record<NotRunReason, (mode: string) => string>> = {
  no_judge: () => "no judge is configured",
  no_baseline: () => "it needs a baseline",
  not_named: () => "it runs only when named",
  not_asked: (mode) => `mode ${mode} was not asked for`,
  not_chosen: () => "other tasks were chosen",
};

/** The reason why a mode, or a task in it, was not run. */
export function notRunText(reason: NotRunReason, mode: string): string {
  return TEXTS[reason](mode);
}

/** Limits of the host come before choices of the caller. */
const RANK: readonly NotRunReason[] = ["no_judge", "not_chosen", "not_asked", "no_baseline", "not_named"];

/** Tasks of the suite that were run in no mode, each with its most important mode and reason. */
export function tasksNotRun({ notRun }: Pick<EvalReport, "notRun">): Map<string, Pick<EvalNotRun, "mode" | "reason">> {
  const tasks = new Map<string, Pick<EvalNotRun, "mode" | "reason">>();
  for (const { taskIds, mode, reason } of [...notRun].sort((a, b) => RANK.indexOf(a.reason) - RANK.indexOf(b.reason))) {
    for (const taskId of taskIds) if (!tasks.has(taskId)) tasks.set(taskId, { mode, reason });
  }
  return tasks;
}

/** People's judgments of a task, next to its original score, which stays; empty where there are none. */
export function overrideMarks({ override }: EvalReport, taskId: string): Readonly<Record<string, string>> {
  const given = override.tasks.find((task) => task.taskId === taskId)?.overridden;
  const isDisputed = override.disputed.some((task) => task.taskId === taskId);
  return {
    ...(given === undefined ? {} : { overriddenScore: figure(given.score), overriddenPassed: String(given.passed) }),
    ...(isDisputed ? { disputed: "true" } : {}),
  };
}

/** People's judgments of the evaluation as a whole. */
export function overrideTotals({ override }: EvalReport): Readonly<Record<string, string>> {
  const { tasks, disputed, aggregateScore, passed } = override;
  return {
    ...(tasks.length === 0
      ? {}
      : {
          overriddenTasks: String(tasks.length),
          overriddenScore: figure(aggregateScore),
          overriddenPassed: String(passed),
        }),
    ...(disputed.length === 0 ? {} : { disputedTasks: String(disputed.length) }),
  };
}
