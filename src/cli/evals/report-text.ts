import {
  type EvalOutcome,
  figure,
  importedMark,
  type OutcomeTask,
  otherWarnings,
  taskProblem,
  taskState,
} from "../../formats/evals/eval-outcome.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { Estimate } from "../../protocol/evals/eval-statistics.ts";
import { formatCount } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatFields } from "../output/table.ts";
import { overrideLines } from "./eval-override.ts";

const TASKS_SHOWN = 20;
const LINES_SHOWN = 16;
const LINE_CHARACTERS = 400;
const NO_BODIES = "Outputs are not shown: this key lacks scope artifacts:read.";

/** An evaluation as text: the tasks that did not pass and how they differ, the figures, and the verdict last. */
export function reportText(outcome: EvalOutcome, paint: Paint): string {
  const { entry, report, conclusion } = outcome;
  const trials = entry.trialsPerTask === 1 ? "" : ` × ${formatCount(entry.trialsPerTask, "trial")}`;
  const what = `${entry.suiteId}@${entry.suiteVersion}  ${entry.agentId} ${entry.resolvedAgentVersion}`;
  const parts = [
    `${paint.bold(printable(what))}  ${formatCount(entry.taskCount, "task")}${trials}  ${paint.dim(entry.runId)}`,
    ...(report === undefined
      ? []
      : [failuresText(outcome, report, paint), figuresText(report, paint), overrideLines(report, paint).join("\n")]),
    otherWarnings(conclusion)
      .map((warning) => `${paint.yellow("!")} ${printable(warning)}`)
      .join("\n"),
    verdictText(outcome, paint),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function verdictText({ conclusion }: EvalOutcome, paint: Paint): string {
  const { verdict, sentence, reasons } = conclusion;
  const mark = verdict === "passed" ? paint.green("✓") : verdict === "failed" ? paint.red("✗") : paint.yellow("!");
  const more = reasons.slice(1).map((reason) => `  also: ${printable(reason)}.`);
  return [`${mark} ${paint.bold(printable(sentence))}`, ...more].join("\n");
}

function failuresText(outcome: EvalOutcome, { tasks }: EvalReport, paint: Paint): string {
  const wrong = tasks.filter((task) => taskState(task) !== "passed");
  const shown = wrong.slice(0, TASKS_SHOWN);
  const widest = Math.max(0, ...shown.map(({ taskId }) => taskId.length));
  const shownErrors = new Set<string>();
  const lines = shown.flatMap((task) => {
    const quotes = outcome.quotes?.get(task.taskId) ?? [];
    const text = quotes.join("\n");
    // An error that every task met is printed once.
    const isRepeated = taskState(task) === "error" && shownErrors.has(text);
    shownErrors.add(text);
    return [headline(task, widest, paint), ...(isRepeated ? [paint.dim("    as above")] : quoted(quotes, paint))];
  });
  const left = wrong.length - shown.length;
  return [
    ...lines,
    ...(left > 0 ? [paint.dim(`… and ${left} more that did not pass; --md FILE lists them`)] : []),
    ...(wrong.length > 0 && wrong.every(({ content }) => content === undefined) ? [paint.dim(NO_BODIES)] : []),
  ].join("\n");
}

function headline(task: OutcomeTask, widest: number, paint: Paint): string {
  const mark = taskState(task) === "error" ? paint.yellow("!") : paint.red("✗");
  const marks = task.flaky ? [paint.yellow("flaky")] : [];
  return [`${mark} ${printable(task.taskId).padEnd(widest)}`, printable(taskProblem(task)), ...marks].join("  ");
}

function quoted(lines: readonly string[], paint: Paint): string[] {
  const shown = lines.slice(0, LINES_SHOWN).map((line) => {
    const safe = shorten(printable(line), LINE_CHARACTERS);
    const colour = /^(-|expected:)/.test(line) ? paint.green : /^(\+|output:)/.test(line) ? paint.red : undefined;
    return `    ${colour === undefined ? safe : colour(safe)}`;
  });
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, paint.dim(`    … ${formatCount(left, "more line")}`)] : shown;
}

function figuresText(report: EvalReport, paint: Paint): string {
  const { figures, baseline, cachedTrials, stopped } = report;
  const { tasks, trials, latency, cost } = figures;
  const most = figures.atK.at(-1);
  const comparison = baseline?.comparison;
  const fields = {
    Partial: stopped && `${stopped.tasksDone} of ${formatCount(stopped.tasksPlanned, "task")} done`,
    Modes: modesText(report),
    Passed: `${tasks.passed} of ${tasks.total} tasks, ${tasks.errored === 0 || tasks.scored === 0 ? "" : `of the ${tasks.scored} that could be scored `}${estimate(figures.passRate)}`,
    Score:
      tasks.errored === 0 || tasks.scored === 0
        ? estimate(figures.score)
        : `${figure(report.aggregateScore)} with errors as 0, of the ${tasks.scored} that could be scored ${estimate(figures.score)}`,
    ...(most === undefined || most.k === 1
      ? {}
      : {
          [`pass@${most.k}`]: ofTasks(most.passAtK, tasks.total),
          [`pass^${most.k}`]: ofTasks(most.passHatK, tasks.total),
        }),
    Flaky: tasks.flaky > 0 ? formatCount(tasks.flaky, "task") : undefined,
    Errors: trials.errors > 0 ? `${trials.errors} of ${trials.total} trials` : undefined,
    Cached: cachedTrials > 0 ? `${cachedTrials} of ${trials.total} trials` : undefined,
    "p95 latency": latency.p95Ms === null ? undefined : `${Math.round(latency.p95Ms)} ms`,
    Cost:
      cost.totalUsd === null || (cost.totalUsd === 0 && cost.unknown === 0)
        ? undefined
        : `${cost.unknown > 0 ? "at least " : ""}${cost.totalUsd} USD`,
    ...judgeFields(report),
    Baseline:
      baseline &&
      printable(
        `${baseline.name ?? baseline.runId}${importedMark(baseline)}: ${verdictWord(comparison?.verdict, stopped)}`,
      ),
  };
  return formatFields(fields, paint);
}

/** Which modes ran; of several, how many tasks passed in each. */
function modesText({ modes, modeFigures }: EvalReport): string {
  if (modeFigures.length <= 1) return modes.join(", ");
  return modeFigures.map(({ mode, figures: { tasks } }) => `${mode} ${tasks.passed} of ${tasks.total}`).join(", ");
}

/** Whether the judge is certified, and the pass rate without its errors. */
function judgeFields({ judge }: EvalReport): Record<string, string | undefined> {
  if (judge === undefined) return {};
  const { model, problems, kappa, observedPassRate: seen, correctedPassRate: corrected } = judge;
  const [first] = problems;
  const certificate =
    first === undefined ? `certified, kappa ${figure(kappa ?? 0)}` : `not certified: ${first.problem}`;
  const rate = (value: number | null | undefined) => (typeof value === "number" ? figure(value) : "not known");
  return {
    Judge: printable(`${model}, ${certificate}`),
    "Without its errors":
      corrected &&
      `${rate(corrected.value)} pass instead of ${rate(seen.value)}, of ${formatCount(seen.count, "judged task")}`,
  };
}

function verdictWord(verdict: string | undefined, stopped: EvalReport["stopped"]): string {
  return verdict?.replaceAll("_", " ") ?? (stopped === undefined ? "nothing to compare with" : "not compared");
}

/** Tasks that had errors may have too few trials left to count. */
function ofTasks(rate: Estimate, total: number): string {
  return rate.count === total ? estimate(rate) : `${estimate(rate)}, of ${formatCount(rate.count, "task")}`;
}

function estimate({ value, interval }: Estimate): string {
  if (value === null) return "not known";
  return interval === null ? figure(value) : `${figure(value)} (95 % ${figure(interval.low)}–${figure(interval.high)})`;
}
