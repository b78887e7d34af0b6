import type { EvalReport, EvalStop } from "../../protocol/evals/api.ts";
import { notRunText } from "./eval-outcome.ts";

type Reported = Omit<EvalReport, "warnings">;

/** Warnings for readers who only see that an evaluation passed: the same on the command line and over HTTP. */
export function warningsOf(report: Reported): string[] {
  const { figures, cachedTrials, modes, stopped } = report;
  const { tasks, trials, errorsByCode } = figures;
  const unsafe = unsafeText(report);
  return [
    ...(stopped === undefined ? comparisonWarnings(report) : [partialText(stopped)]),
    ...notRunWarnings(report),
    ...(unsafe === undefined ? [] : [`${raised(unsafe)}.`]),
    ...unusedFixtures(report),
    ...(modes.includes("live-shadow") ? [liveText(report)] : []),
    ...(trials.errors > 0
      ? [`${trials.errors} of ${trials.total} trials ended in an error: ${errorsText(errorsByCode)}.`]
      : []),
    ...(tasks.flaky > 0 ? [`${tasksAre(tasks.flaky)} flaky: passed in some trials and not in others.`] : []),
    ...(cachedTrials > 0 ? [`${cachedTrials} of ${trials.total} trials were taken from the cache and not run.`] : []),
  ];
}

/** Names the tasks that a verdict needs and that were not run, with the remedy; undefined where none is missing. */
export function missingText({ notRun }: Pick<EvalReport, "notRun">): string | undefined {
  const unjudged = notRun.filter((one) => one.missing > 0);
  const leftOut = notRun.filter((one) => one.missingFromBaseline > 0);
  const unjudgedModes = unjudged.map(({ mode }) => mode);
  const parts = [
    // Tasks with a rubric are the same in every mode.
    ...(unjudged.length === 0
      ? []
      : [
          `${tasksWere(Math.max(...unjudged.map(({ missing }) => missing)))} not run in mode ${unjudgedModes.join(", ")}: ${notRunText("no_judge", "")}`,
        ]),
    ...leftOut.map(({ mode, reason, missingFromBaseline: count }) => {
      return `${tasksOf(count)} of the baseline ${count === 1 ? "was" : "were"} not run in mode ${mode}: ${notRunText(reason, mode)}`;
    }),
  ];
  if (parts.length === 0) return undefined;
  const allowed = [
    ...(unjudgedModes.includes("rubric") ? ["rubric"] : unjudgedModes),
    ...leftOut.map(({ mode }) => mode),
  ];
  const remedy = unjudged.length > 0 ? "Configure a judge in the agents file" : "Run them";
  return `${parts.join("; ")}. ${remedy}, or do without them: --allow-missing ${[...new Set(allowed)].join(",")}.`;
}

function comparisonWarnings({ baseline, compared, leftOut }: Reported): string[] {
  const comparison = baseline?.comparison;
  const isOpen = comparison?.verdict === "suspect" || comparison?.verdict === "not_enough_data";
  return [
    ...(comparison && isOpen ? [comparison.reason] : []),
    ...(comparison ? unequalText(comparison) : []),
    ...(compared
      ? []
      : baseline !== undefined
        ? [`Nothing was compared: what was kept of the baseline ${baseline.runId} is gone.`]
        : leftOut.modes.includes("regression")
          ? ["Nothing was compared: there is no baseline."]
          : []),
  ];
}

type Compared = NonNullable<NonNullable<EvalReport["baseline"]>["comparison"]>;

function unequalText({ unpaired, pairs, errored }: Compared): string[] {
  const [here, there] = [unpaired.candidate.length, unpaired.baseline.length];
  if (here === 0 && there === 0) return [];
  const alone = new Set([...unpaired.candidate, ...unpaired.baseline]);
  const unscored = new Set([...errored.candidate, ...errored.baseline].filter((taskId) => !alone.has(taskId))).size;
  return [
    `Compared on the ${tasksOf(pairs + unscored)} that both have; ${here} only here, ${there} only in the baseline.`,
  ];
}

function partialText(stopped: EvalStop): string {
  return `Partial: it was stopped after ${doneText(stopped)}, and all figures are of those.`;
}

export function unsafeText({ tasks }: Pick<EvalReport, "tasks">): string | undefined {
  const found = tasks.filter(({ findings }) => findings.length > 0).length;
  return found === 0 ? undefined : `something unsafe was noticed in ${tasksOf(found)}`;
}

const UNUSED_NAMED_MAX = 5;

/** A task can pass although its agent never used the fixtures of the task; then the pass proves less. */
function unusedFixtures({ tasks }: Reported): string[] {
  const unused = tasks.filter(({ fixturesUnused = [] }) => fixturesUnused.length > 0);
  if (unused.length === 0) return [];
  const named = unused
    .slice(0, UNUSED_NAMED_MAX)
    .map(({ taskId, fixturesUnused = [] }) => `${taskId} (${fixturesUnused.join(", ")})`);
  const more = unused.length > UNUSED_NAMED_MAX ? `, and ${unused.length - UNUSED_NAMED_MAX} more` : "";
  return [`Fixtures of ${tasksOf(unused.length)} were never used: ${named.join(", ")}${more}.`];
}

function liveText({ modes }: Reported): string {
  const where = modes.length > 1 ? ", in the passes of that mode only" : "";
  return `Live tools and memory answered in place of fixtures (live-shadow)${where}.`;
}

/** Tasks of the suite that were run in no mode, then modes that were not run although their tasks were. */
function notRunWarnings({ leftOut, notRun, figures, stopped }: Reported): string[] {
  const all = leftOut.tasks + (stopped?.tasksPlanned ?? figures.tasks.total);
  const untouched = notRun.filter(({ taskIds }) => taskIds.length > 0);
  // Modes that repeat other modes say nothing about why a task was not run in any.
  const own = untouched.filter(({ reason }) => reason !== "no_baseline" && reason !== "not_named");
  const because = [...new Set(own.map(({ reason }) => reason))].map((reason) => reasonText(reason, own)).join("; ");
  const repeated = notRun.filter(
    ({ mode, reason, taskIds, taskCount }) =>
      reason === "not_named" ||
      (reason !== "no_baseline" && reason !== "not_chosen" && taskIds.length < taskCount && !(mode === "regression")),
  );
  return [
    ...(leftOut.tasks === 0
      ? []
      : [
          `${leftOut.tasks} of ${all} tasks of the suite ${leftOut.tasks === 1 ? "was" : "were"} not run${because === "" ? "" : `: ${because}`}.`,
        ]),
    ...repeated.map(({ mode, reason }) => `Mode ${mode} was not run: ${modeReason(reason)}.`),
  ];
}

type NotRun = EvalReport["notRun"][number];

function reasonText(reason: NotRun["reason"], entries: readonly NotRun[]): string {
  const modes = entries.filter((one) => one.reason === reason).map(({ mode }) => mode);
  const text = notRunText(reason, modes.join(", "));
  return reason === "no_judge" ? `${text} (mode ${modes.join(", ")})` : text;
}

function modeReason(reason: NotRun["reason"]): string {
  return reason === "not_asked" ? "it was not asked for" : notRunText(reason, "");
}

export function doneText({ tasksDone, tasksPlanned }: EvalStop): string {
  return `${tasksDone} of ${tasksOf(tasksPlanned)}`;
}

export function tasksAre(count: number): string {
  return count === 1 ? "1 task is" : `${count} tasks are`;
}

function tasksWere(count: number): string {
  return count === 1 ? "1 task was" : `${count} tasks were`;
}

function tasksOf(count: number): string {
  return count === 1 ? "1 task" : `${count} tasks`;
}

export function errorsText(byCode: Readonly<Record<string, number>>): string {
  return Object.entries(byCode)
    .map(([code, count]) => `${code} ${count}`)
    .join(", ");
}

function raised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
