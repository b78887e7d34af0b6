import { defined } from "../../protocol/defined.ts";
import {
  type EvalOutcome,
  figure,
  notRunText,
  type OutcomeTask,
  overrideMarks,
  overrideTotals,
  partialMarks,
  plainText,
  rowIf,
  taskProblem,
  taskState,
  tasksNotRun,
} from "./eval-outcome.ts";

/**
 * An evaluation as JUnit test results: a test case for each task. A task that was not run is skipped, with the reason. An evaluation that
 * did not pass has at least one failure or error, also where all its tasks passed, and a stopped one has an error that reports it, so that
 * the file alone does not mislead its reader.
 */
export function junitXml({ entry, report, conclusion, quotes }: EvalOutcome): string {
  const tasks = report?.tasks ?? [];
  const states = tasks.map(taskState);
  const hasNoVerdict = report?.complete !== true || conclusion.verdict === "no_verdict";
  const isUnreported = hasNoVerdict || states.every((state) => state === "passed");
  const verdict = isUnreported && conclusion.exitCode !== 0 ? [verdictCase(conclusion)] : [];
  const failures = states.filter((state) => state === "failed").length;
  const errors = states.filter((state) => state === "error").length + verdict.length;
  const seconds = tasks.reduce((sum, task) => sum + secondsOf(task), 0);
  const notRun = report === undefined ? [] : [...tasksNotRun(report)];
  const tests = tasks.length + notRun.length + verdict.length;
  const counts = { tests, failures, errors, skipped: notRun.length, time: fixed(seconds) };
  const name = `${entry.suiteId}@${entry.suiteVersion}`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    open("testsuites", { name: "assay", ...counts }),
    `  ${open("testsuite", { name, timestamp: entry.startedAt, ...counts })}`,
    "    <properties>",
    ...propertiesOf({ entry, conclusion, ...defined({ report }) }).map(
      ([property, value]) => `      ${open("property", { name: property, value }, true)}`,
    ),
    "    </properties>",
    ...tasks.flatMap((task) => {
      const marks = report === undefined ? {} : overrideMarks(report, task.taskId);
      return taskCase(entry.suiteId, task, marks, quotes?.get(task.taskId));
    }),
    ...notRun.map(([taskId, { reason, mode }]) => skippedCase(entry.suiteId, taskId, notRunText(reason, mode))),
    ...verdict,
    "  </testsuite>",
    "</testsuites>",
  ];
  return `${lines.join("\n")}\n`;
}

function propertiesOf(outcome: EvalOutcome): [string, string][] {
  const { entry, report, conclusion } = outcome;
  const { runId, status, agentId, resolvedAgentVersion, modes } = entry;
  const { interval } = report?.figures.score ?? {};
  return [
    ["runId", runId],
    ["status", status],
    ["agentId", agentId],
    ["agentVersion", resolvedAgentVersion],
    ["modes", modes.join(",")],
    ...(report?.modeFigures ?? []).map(({ mode, figures: { tasks } }): [string, string] => [
      `mode.${mode}`,
      `${tasks.passed} of ${tasks.total} passed`,
    ]),
    ...(report?.notRun ?? []).map(({ mode, reason, taskCount }): [string, string] => [
      `notRun.${mode}`,
      `${taskCount}: ${notRunText(reason, mode)}`,
    ]),
    ["verdict", conclusion.verdict],
    ["sentence", conclusion.sentence],
    ...Object.entries(partialMarks(outcome)),
    ...rowIf("score", report && figure(report.aggregateScore)),
    ...rowIf("scoreInterval95", interval ? `${figure(interval.low)}–${figure(interval.high)}` : undefined),
    ...rowIf("cachedTrials", report?.cachedTrials ? String(report.cachedTrials) : undefined),
    ...rowIf("baselineRunId", report?.baseline?.runId),
    ...rowIf("baselineFileSha256", report?.baseline?.fileSha256),
    ...rowIf("comparison", report?.baseline?.comparison?.verdict),
    ...(report === undefined ? [] : Object.entries(overrideTotals(report))),
  ];
}

function taskCase(
  suiteId: string,
  task: OutcomeTask,
  marks: Readonly<Record<string, string>>,
  quotes: readonly string[] | undefined,
): string[] {
  const start = { classname: suiteId, name: task.taskId, time: fixed(secondsOf(task)) };
  const state = taskState(task);
  const { fixturesUnused = [] } = task;
  const all = {
    ...(task.cached > 0 ? { cachedTrials: String(task.cached) } : {}),
    ...(fixturesUnused.length > 0 ? { fixturesUnused: fixturesUnused.join(",") } : {}),
    ...marks,
  };
  const properties = Object.entries(all).map(([name, value]) => open("property", { name, value }, true));
  const marked = properties.length > 0 ? [`      <properties>${properties.join("")}</properties>`] : [];
  if (state === "passed" && marked.length === 0) return [`    ${open("testcase", start, true)}`];
  const [codes] = task.errors;
  const type = state === "error" ? (codes?.code ?? "error") : task.findings.length > 0 ? "finding" : "score";
  const tag = state === "error" ? "error" : "failure";
  const attributes = { type, message: taskProblem(task) };
  const body =
    quotes === undefined
      ? open(tag, attributes, true)
      : `${open(tag, attributes)}${escaped(quotes.join("\n"))}</${tag}>`;
  const problem = state === "passed" ? [] : [`      ${body}`];
  const unused = `fixtures never used: ${fixturesUnused.join(", ")}`;
  const noted = fixturesUnused.length === 0 ? [] : [`      <system-out>${escaped(unused)}</system-out>`];
  return [`    ${open("testcase", start)}`, ...marked, ...problem, ...noted, "    </testcase>"];
}

function skippedCase(suiteId: string, taskId: string, message: string): string {
  const skipped = open("skipped", { message }, true);
  return `    ${open("testcase", { classname: suiteId, name: taskId, time: fixed(0) })}${skipped}</testcase>`;
}

function verdictCase({ verdict, sentence }: EvalOutcome["conclusion"]): string {
  const error = open("error", { type: verdict, message: sentence }, true);
  return `    ${open("testcase", { classname: "assay", name: "verdict" })}${error}</testcase>`;
}

function secondsOf({ latencyMs, trials }: OutcomeTask): number {
  return ((latencyMs ?? 0) * (trials.scored + trials.errors)) / 1000;
}

function fixed(seconds: number): string {
  return seconds.toFixed(3);
}

function open(name: string, attributes: Readonly<Record<string, string | number>>, closed = false): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return `<${name}${pairs.join("")}${closed ? "/" : ""}>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

function escaped(text: string): string {
  return plainText(text).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
