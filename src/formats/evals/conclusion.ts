import { isDisqualifying } from "../../protocol/agents/severity.ts";
import type { EvalReport, EvalStop } from "../../protocol/evals/api.ts";
import type { EvalEntry } from "../../protocol/evals/baselines.ts";
import { type Conclusion, figure } from "./eval-outcome.ts";
import { doneText, errorsText, missingText, tasksAre, unsafeText, warningsOf } from "./warnings.ts";

/** Further reasons to count an evaluation as not passed, in addition to the bars of the suite and a regression. */
export const FAIL_ON = ["suspect", "flaky", "error", "failure", "finding"] as const;
export type FailOn = (typeof FAIL_ON)[number];

export interface Demands {
  readonly failOn: readonly FailOn[];
  /** No answer to whether it got worse is not good enough. */
  readonly requireVerdict: boolean;
}

const EXITS = { passed: 0, failed: 1, not_configured: 2, unreachable: 4, no_verdict: 5 } as const;

/** Whether an evaluation passed. An undecided result is never a pass. */
export function conclude(entry: EvalEntry, report: EvalReport | undefined, demands: Demands): Conclusion {
  if (report === undefined) return noVerdict(`No verdict: ${howItEnded(entry)}.`, []);
  const warnings = warningsOf(report);
  if (!report.complete) return noVerdict(`No verdict: ${howItEnded(entry, report.stopped)}.`, warnings);
  const unanswered = unansweredBecause(report);
  if (unanswered !== undefined) return conclusion(unanswered.verdict, unanswered.sentence, [], warnings);
  const reasons = [...unmetOf(report), ...failedOn(report, demands.failOn)];
  const counts = countsText(report);
  if (reasons.length > 0) return conclusion("failed", `Failed: ${counts}; ${reasons[0]}.`, reasons, warnings);
  // A verdict on fewer tasks than the suite or the baseline has would claim more than was measured.
  const missing = missingText(report);
  if (missing !== undefined) return conclusion("no_verdict", `No verdict: ${counts}, but ${missing}`, [], warnings);
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

/** No task was scored for reasons that are not the agent's. */
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
    flaky: flaky > 0 ? `${tasksAre(flaky)} flaky` : undefined,
    error:
      figures.trials.errors > 0
        ? `${figures.trials.errors} of ${figures.trials.total} trials ended in an error`
        : undefined,
    failure: passed < total ? `${total - passed} of ${total} tasks did not pass` : undefined,
    finding: unsafeText(report),
  };
  return FAIL_ON.filter((one) => failOn.includes(one)).flatMap((one) => problems[one] ?? []);
}

/** Without errors the score has its interval; with errors it is the lower one, which counts them as 0. */
function countsText({ figures: { tasks, score }, aggregateScore }: EvalReport): string {
  const { interval } = score;
  const range = interval === null || tasks.errored > 0 ? "" : ` [${figure(interval.low)}–${figure(interval.high)}]`;
  const errors =
    tasks.errored > 0 ? ` with ${tasks.errored === 1 ? "1 error" : `${tasks.errored} errors`} counted as 0` : "";
  return `${tasks.passed} of ${tasks.total} tasks passed, score ${figure(aggregateScore)}${range}${errors}`;
}

function bare(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function lowered(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}
