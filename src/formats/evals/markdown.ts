import type { EvalReport } from "../../protocol/evals/api.ts";
import type { Estimate } from "../../protocol/evals/eval-statistics.ts";
import {
  type EvalOutcome,
  figure,
  importedMark,
  otherWarnings,
  plainText,
  rowIf,
  taskProblem,
  taskState,
} from "./eval-outcome.ts";
import { errorsText } from "./warnings.ts";

/** The number of tasks that are shown in full; some places cut longer comments off. */
const SHOWN_MAX = 100;
const QUOTED_LINES_MAX = 60;

/** An evaluation as a comment on a pull request. Foreign text is quoted so that it can neither format nor link anything. */
export function markdownText(outcome: EvalOutcome): string {
  const { entry, report, conclusion } = outcome;
  const mark = conclusion.exitCode === 0 ? "✅" : conclusion.verdict === "failed" ? "❌" : "⚠️";
  const sections = [
    `## ${mark} ${codeSpan(`${entry.suiteId}@${entry.suiteVersion}`)} · ${codeSpan(entry.agentId)} ${codeSpan(entry.resolvedAgentVersion)}`,
    escaped(conclusion.sentence),
    list("Also", conclusion.reasons.slice(1)),
    list("Note", otherWarnings(conclusion)),
    report === undefined ? "" : figuresOf(report),
    report === undefined ? "" : failuresOf(outcome, report),
    report === undefined ? "" : overridesOf(report),
    `Run ${codeSpan(entry.runId)}, modes ${entry.modes.map(codeSpan).join(", ")}.`,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function list(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [`**${title}**`, "", ...lines.map((line) => `- ${escaped(line)}`)].join("\n");
}

function figuresOf({ figures, modeFigures, aggregateScore, baseline, cachedTrials, stopped }: EvalReport): string {
  const { tasks, trials, passRate, latency, cost } = figures;
  const comparison = baseline?.comparison ?? undefined;
  const errors = `${trials.errors} of ${trials.total}`;
  const rows: [string, string][] = [
    ...rowIf("Partial: tasks done", stopped && `${stopped.tasksDone} of ${stopped.tasksPlanned}`),
    [stopped === undefined ? "Tasks passed" : "Of those passed", `${tasks.passed} of ${tasks.total}`],
    ...rowIf("Passed by mode", modeFigures.length > 1 ? byMode(modeFigures) : undefined),
    ["Pass rate of what could be scored", estimate(passRate)],
    ["Score", `${figure(aggregateScore)}; of what could be scored ${estimate(figures.score)}`],
    ...rowIf("Flaky tasks", tasks.flaky > 0 ? String(tasks.flaky) : undefined),
    ...rowIf("Trials with errors", trials.errors > 0 ? `${errors}: ${errorsText(figures.errorsByCode)}` : undefined),
    ...rowIf("Trials from the cache", cachedTrials > 0 ? `${cachedTrials} of ${trials.total}` : undefined),
    ["p95 latency", latency.p95Ms === null ? "not known" : `${Math.round(latency.p95Ms)} ms`],
    ["Cost", cost.totalUsd === null ? "not known" : `${cost.unknown > 0 ? "at least " : ""}${cost.totalUsd} USD`],
    ...rowIf(`Against the baseline${importedMark(baseline ?? {})}`, comparison?.verdict.replaceAll("_", " ")),
    ...rowIf("Lost", comparison && (comparison.lost.map(codeSpan).join(" ") || "none")),
    ...rowIf("Gained", comparison && (comparison.gained.map(codeSpan).join(" ") || "none")),
  ];
  const cells = rows.map(
    ([name, value]) => `| ${name} | ${name === "Lost" || name === "Gained" ? value : escaped(value)} |`,
  );
  return ["| | |", "|---|---|", ...cells].join("\n");
}

function byMode(modeFigures: EvalReport["modeFigures"]): string {
  return modeFigures
    .map(
      ({ mode, figures }) =>
        `${mode} ${figures.tasks.passed} of ${figures.tasks.total}, score ${estimate(figures.score)}`,
    )
    .join("; ");
}

function failuresOf({ quotes }: EvalOutcome, { tasks }: EvalReport): string {
  const failed = tasks.filter((task) => taskState(task) !== "passed");
  if (failed.length === 0) return "";
  const shown = failed.slice(0, SHOWN_MAX).map((task) => {
    const lines = quotes?.get(task.taskId) ?? [];
    const more = lines.length > QUOTED_LINES_MAX ? [`… ${lines.length - QUOTED_LINES_MAX} more lines`] : [];
    const quoted = lines.length === 0 ? [] : ["", fenced([...lines.slice(0, QUOTED_LINES_MAX), ...more].join("\n"))];
    return [`#### ${codeSpan(task.taskId)}`, "", escaped(taskProblem(task)), ...quoted].join("\n");
  });
  const rest = failed.length > SHOWN_MAX ? [`… and ${failed.length - SHOWN_MAX} more.`] : [];
  return ["### What did not pass", ...shown, ...rest].join("\n\n");
}

/** Shown in addition to the original scores, on which the verdict above is based. */
function overridesOf({ override, aggregateScore, passed, complete }: EvalReport): string {
  const { tasks, disputed } = override;
  if (tasks.length === 0 && disputed.length === 0) return "";
  const word = (good: boolean) => (good ? "passed" : "not passed");
  const scored = tasks.map(({ taskId, original, overridden, by, adjudicated }) => {
    const given = `${figure(overridden.score)}, ${word(overridden.passed)}`;
    const who = `${codeSpan(by)}${adjudicated ? ", adjudicated" : ""}`;
    return `| ${codeSpan(taskId)} | ${figure(original.score)}, ${word(original.passed)} | ${given} | ${who} |`;
  });
  const doubted = disputed.map(({ taskId, said: judgments }) => {
    const who = judgments.map(({ kind, by }) => `${kind} by ${codeSpan(by)}`).join(", ");
    return `| ${codeSpan(taskId)} | | disputed | ${who} |`;
  });
  const rows = [...scored, ...doubted];
  const rest = rows.length > SHOWN_MAX ? [`… and ${rows.length - SHOWN_MAX} more.`] : [];
  const bars = (met: boolean) => (complete ? `, the suite's bars ${met ? "met" : "not met"}` : "");
  const change = `Score ${figure(aggregateScore)}${bars(passed)}; with their scores ${figure(override.aggregateScore)}${bars(override.passed)}.`;
  return [
    "### What people say",
    ["| Task | As scored | By people | Who |", "|---|---|---|---|", ...rows.slice(0, SHOWN_MAX)].join("\n"),
    ...rest,
    ...(tasks.length === 0 ? [] : [`${change} The verdict above is of the scores as they were.`]),
  ].join("\n\n");
}

function estimate({ value, interval, count }: Estimate): string {
  if (value === null) return "not known";
  const range = interval === null ? "" : ` (95 % interval ${figure(interval.low)}–${figure(interval.high)})`;
  return `${figure(value)}${range}, n = ${count}`;
}

/** One line of text without active markup: no mention of people, no link, no cell, no tag. */
function escaped(text: string): string {
  return plainText(text)
    .replace(/\s+/g, " ")
    .replace(/[\\`*_[\]<>|~#&!$]/g, (char) => `\\${char}`)
    .replace(/@/g, "@\u200b")
    .replace(/(https?|ftp|mailto|www)([:.])/gi, "$1\u200b$2");
}

/** Also inside a table, where a bar would end the cell. */
function codeSpan(text: string): string {
  const plain = plainText(text).replace(/\s+/g, " ").replaceAll("|", "¦");
  const fence = "`".repeat(longestRun(plain) + 1);
  const pad = plain.startsWith("`") || plain.endsWith("`") || plain === "" ? " " : "";
  return `${fence}${pad}${plain}${pad}${fence}`;
}

function fenced(text: string): string {
  const plain = plainText(text);
  const fence = "`".repeat(Math.max(3, longestRun(plain) + 1));
  return `${fence}text\n${plain}\n${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
