import { type Conclusion, figure } from "../../formats/eval/eval-outcome.ts";
import type { EvalReport, EvalStop } from "../../protocol/eval-api.ts";
import type { EvalEntry } from "../../protocol/eval-baseline.ts";
import { isDisqualifying } from "../../protocol/safety-finding.ts";

/** What else may count as not passed, beside the bars of the suite and a regression. */
export const FAIL_ON = ["suspect", "flaky", "error", "failure", "finding"] as const;
export type FailOn = (typeof FAIL_ON)[number];

export interface Demands {
  readonly failOn: readonly FailOn[];
  /** No answer to whether it got worse is not good enough. */
  readonly requireVerdict: boolean;
}

const EXITS = { passed: 0, failed: 1, not_configured: 2, unreachable: 4, no_verdict: 5 } as const;

/** Whether an evaluation passed. What cannot be told is never a pass. */
export function conclude(entry: EvalEntry, report: EvalReport | undefined, demands: Demands): Conclusion {
  if (report === undefined) return noVerdict(`No verdict: ${howItEnded(entry)}.`, []);
  const warnings = warningsOf(report);
  if (!report.complete) return noVerdict(`No verdict: ${howItEnded(entry, report.stopped)}.`, warnings);
  const unanswered = unansweredBecause(report);
  if (unanswered !== undefined) return conclusion(unanswered.verdict, unanswered.sentence, [], warnings);
  const reasons = [...unmetOf(report), ...failedOn(report, demands.failOn)];
  const counts = countsText(report);
  if (reasons.length > 0) return conclusion("failed", `Failed: ${counts}; ${reasons[0]}.`, reasons, warnings);
  const comparison = report.baseline?.comparison;
  if (demands.requireVerdict && (!comparison || comparison.verdict === "not_enough_data")) {
    const why = comparison?.reason ?? "nothing was compared, since there is no baseline";
    return conclusion("no_verdict", `No verdict: ${counts}, but ${lowered(why)}`, [], warnings);
  }
  const compared = comparison ? ` ${comparison.reason}` : "";
  return conclusion("passed", `Passed: ${counts}.${compared}`, [], warnings);
}

function conclusion(
  verdict: Conclusion["verdict"],
  sentence: string,
  reasons: readonly string[],
  warnings: readonly string[],
): Conclusion {
  return { verdict, exitCode: EXITS[verdict], sentence, reasons, warnings };
}

function noVerdict(sentence: string, warnings: readonly string[]): Conclusion {
  return conclusion("no_verdict", sentence, [], warnings);
}

function howItEnded({ status, error, errorMessage, taskCount }: EvalEntry, stopped?: EvalStop): string {
  const after = stopped === undefined ? "" : ` after ${doneText(stopped)}`;
  if (status === "cancelled") return `the evaluation was cancelled${after}`;
  if (error === "eval_budget_exceeded") {
    if (errorMessage !== undefined) return `the budget stopped it. ${bare(errorMessage)}`;
    return `the budget was spent before all ${taskCount} tasks were done`;
  }
  if (status === "failed") return `the evaluation failed with ${error ?? "an error"}${after}`;
  return `the evaluation has not ended; it is ${status}`;
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  "agent_unreachable",
  "agent_rate_limited",
  "judge_unreachable",
  "judge_rate_limited",
]);
const NOT_CONFIGURED: ReadonlySet<string> = new Set(["agent_not_configured", "judge_not_configured"]);

/** Where no task was scored, and that says nothing of the agent. */
function unansweredBecause({ figures }: EvalReport): Pick<Conclusion, "verdict" | "sentence"> | undefined {
  const codes = Object.keys(figures.errorsByCode);
  if (figures.tasks.scored > 0 || codes.length === 0) return undefined;
  const { total } = figures.tasks;
  const all = `${total === 1 ? "the one task" : `all ${total} tasks`} ended in an error (${errorsText(figures.errorsByCode)})`;
  if (codes.every((code) => NOT_CONFIGURED.has(code))) {
    return { verdict: "not_configured", sentence: `Not configured: ${all}.` };
  }
  if (codes.every((code) => UNREACHABLE.has(code) || NOT_CONFIGURED.has(code))) {
    return { verdict: "unreachable", sentence: `Unreachable: ${all}.` };
  }
  if (codes.every((code) => code.startsWith("judge_"))) {
    return { verdict: "no_verdict", sentence: `No verdict: the judge failed, and ${all}.` };
  }
  return undefined;
}

const UNMET = {
  score: "the score is below the bar of the suite",
  cost: "it cost more than the suite allows",
  cost_unknown: "the suite limits the cost, and what it cost is not known",
  latency: "the p95 latency is above what the suite allows",
} as const;

/** The mean of the scores, which decides `passed`, may hide a task that must not pass whatever its score. */
function unmetOf({ unmet, passed, baseline, tasks }: EvalReport): string[] {
  const comparison = baseline?.comparison;
  const unsafe = tasks.filter(({ findings }) => findings.some(isDisqualifying)).length;
  return [
    ...unmet.map((one) => UNMET[one]),
    ...(unmet.length === 0 && !passed ? ["the bar of the suite is not met"] : []),
    ...(unsafe > 0
      ? [`something of high or critical severity was found in ${unsafe === 1 ? "1 task" : `${unsafe} tasks`}`]
      : []),
    ...(comparison?.verdict === "regressed" ? [`it got worse than its baseline. ${bare(comparison.reason)}`] : []),
  ];
}

function failedOn(report: EvalReport, failOn: readonly FailOn[]): string[] {
  const { figures, baseline } = report;
  const { flaky, total, passed } = figures.tasks;
  const problems: Readonly<Record<FailOn, string | undefined>> = {
    suspect: baseline?.comparison?.verdict === "suspect" ? `suspect: ${bare(baseline.comparison.reason)}` : undefined,
    flaky: flaky > 0 ? `${tasksText(flaky)} flaky` : undefined,
    error:
      figures.trials.errors > 0
        ? `${figures.trials.errors} of ${figures.trials.total} trials ended in an error`
        : undefined,
    failure: passed < total ? `${total - passed} of ${total} tasks did not pass` : undefined,
    finding: unsafeText(report),
  };
  return FAIL_ON.filter((one) => failOn.includes(one)).flatMap((one) => problems[one] ?? []);
}

function warningsOf(report: EvalReport): string[] {
  const { figures, cachedTrials, modes, stopped } = report;
  const { tasks, trials, errorsByCode } = figures;
  const unsafe = unsafeText(report);
  return [
    ...(stopped === undefined ? comparisonWarnings(report) : [partialText(stopped)]),
    ...notRun(report),
    ...(unsafe === undefined ? [] : [`${raised(unsafe)}.`]),
    ...unusedFixtures(report),
    ...(modes.includes("live-shadow") ? ["Live tools and memory answered in place of fixtures (live-shadow)."] : []),
    ...(trials.errors > 0
      ? [`${trials.errors} of ${trials.total} trials ended in an error: ${errorsText(errorsByCode)}.`]
      : []),
    ...(tasks.flaky > 0 ? [`${tasksText(tasks.flaky)} flaky: passed in some trials and not in others.`] : []),
    ...(cachedTrials > 0 ? [`${cachedTrials} of ${trials.total} trials were taken from the cache and not run.`] : []),
  ];
}

function comparisonWarnings({ baseline, compared, leftOut }: EvalReport): string[] {
  const comparison = baseline?.comparison;
  const isOpen = comparison?.verdict === "suspect" || comparison?.verdict === "not_enough_data";
  return [
    ...(comparison && isOpen ? [comparison.reason] : []),
    ...(compared
      ? []
      : baseline !== undefined
        ? [`Nothing was compared: what was kept of the baseline ${baseline.runId} is gone.`]
        : leftOut.modes.includes("regression")
          ? ["Nothing was compared: there is no baseline."]
          : []),
  ];
}

function partialText(stopped: EvalStop): string {
  return `Partial: it was stopped after ${doneText(stopped)}, and all figures are of those.`;
}

function unsafeText({ tasks }: EvalReport): string | undefined {
  const found = tasks.filter(({ findings }) => findings.length > 0).length;
  return found === 0 ? undefined : `something unsafe was noticed in ${found === 1 ? "1 task" : `${found} tasks`}`;
}

const UNUSED_NAMED_MAX = 5;

/** A task can pass although its agent never asked for what the task gives it; then it says less than it seems to. */
function unusedFixtures({ tasks }: EvalReport): string[] {
  const unused = tasks.filter(({ fixturesUnused = [] }) => fixturesUnused.length > 0);
  if (unused.length === 0) return [];
  const named = unused
    .slice(0, UNUSED_NAMED_MAX)
    .map(({ taskId, fixturesUnused = [] }) => `${taskId} (${fixturesUnused.join(", ")})`);
  const more = unused.length > UNUSED_NAMED_MAX ? `, and ${unused.length - UNUSED_NAMED_MAX} more` : "";
  const count = unused.length === 1 ? "1 task" : `${unused.length} tasks`;
  return [`Fixtures of ${count} were never used: ${named.join(", ")}${more}.`];
}

/** A suite may have more than was run; whoever reads that it passed should know. */
function notRun({ leftOut, figures, stopped }: EvalReport): string[] {
  if (leftOut.tasks === 0) return [];
  const kinds = leftOut.modes.filter((mode) => mode === "golden" || mode === "rubric");
  const because = kinds.length === 0 ? "" : `; mode ${kinds.join(" and ")} was left out`;
  const all = leftOut.tasks + (stopped?.tasksPlanned ?? figures.tasks.total);
  return [`${leftOut.tasks} of ${all} tasks of the suite ${leftOut.tasks === 1 ? "was" : "were"} not run${because}.`];
}

/** Without errors the score has its interval; with them it is the lower one, which counts them as 0. */
function countsText({ figures: { tasks, score }, aggregateScore }: EvalReport): string {
  const { interval } = score;
  const range = interval === null || tasks.errored > 0 ? "" : ` [${figure(interval.low)}–${figure(interval.high)}]`;
  const errors =
    tasks.errored > 0 ? ` with ${tasks.errored === 1 ? "1 error" : `${tasks.errored} errors`} counted as 0` : "";
  return `${tasks.passed} of ${tasks.total} tasks passed, score ${figure(aggregateScore)}${range}${errors}`;
}

function doneText({ tasksDone, tasksPlanned }: EvalStop): string {
  return `${tasksDone} of ${tasksPlanned === 1 ? "1 task" : `${tasksPlanned} tasks`}`;
}

function tasksText(count: number): string {
  return count === 1 ? "1 task is" : `${count} tasks are`;
}

function errorsText(byCode: Readonly<Record<string, number>>): string {
  return Object.entries(byCode)
    .map(([code, count]) => `${code} ${count}`)
    .join(", ");
}

function bare(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function raised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function lowered(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}
