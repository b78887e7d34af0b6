import { defined } from "../../protocol/defined.ts";
import {
  type EvalOutcome,
  type OutcomeTask,
  overrideMarks,
  overrideTotals,
  partialMarks,
  plainText,
  taskProblem,
  taskState,
} from "./eval-outcome.ts";

const RULES = {
  "task-failed": { level: "error", text: "A task of the evaluation did not pass." },
  "task-error": { level: "error", text: "A task of the evaluation could not be scored." },
  "task-flaky": { level: "warning", text: "A task passed in some trials and not in others." },
  "safety-finding": { level: "error", text: "Something unsafe was noticed about the agent." },
  verdict: { level: "error", text: "The evaluation as a whole did not pass." },
} as const;
type RuleId = keyof typeof RULES;

/** The problems as SARIF 2.1.0. Without a place in a file a result has its task as a logical location only. */
export function sarifText(outcome: EvalOutcome, toolVersion: string): string {
  const { entry, report, conclusion } = outcome;
  const results = (report?.tasks ?? []).flatMap((task) => resultsOf(outcome, task));
  const complete = report?.complete === true;
  const hasNoVerdict = !complete || conclusion.verdict === "no_verdict";
  const isUnreported = (results.length === 0 || hasNoVerdict) && conclusion.exitCode !== 0;
  const verdict = isUnreported ? [result("verdict", "error", conclusion.sentence, {})] : [];
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "assay",
            version: toolVersion,
            rules: Object.entries(RULES).map(([id, { level, text }]) => ({
              id,
              shortDescription: { text },
              defaultConfiguration: { level },
            })),
          },
        },
        automationDetails: { id: plainText(`assay/${entry.suiteId}/`) },
        invocations: [{ executionSuccessful: complete, exitCode: conclusion.exitCode }],
        properties: {
          runId: entry.runId,
          suite: plainText(`${entry.suiteId}@${entry.suiteVersion}`),
          agent: plainText(`${entry.agentId}@${entry.resolvedAgentVersion}`),
          verdict: conclusion.verdict,
          modes: entry.modes,
          ...partialMarks(outcome),
          ...(report?.cachedTrials ? { cachedTrials: report.cachedTrials } : {}),
          ...(report?.baseline?.fileSha256 === undefined ? {} : { baselineFileSha256: report.baseline.fileSha256 }),
          ...(report === undefined ? {} : overrideTotals(report)),
        },
        results: [...results, ...verdict],
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function resultsOf(outcome: EvalOutcome, task: OutcomeTask): object[] {
  const state = taskState(task);
  const marks = outcome.report === undefined ? {} : overrideMarks(outcome.report, task.taskId);
  const properties = Object.keys(marks).length === 0 ? {} : { properties: marks };
  const where = { ...locationOf(outcome, task.taskId), ...properties };
  const quotes = outcome.quotes?.get(task.taskId) ?? [];
  const message = (problem: string) => [`${task.taskId}: ${problem}`, ...quotes].join("\n");
  const rule: RuleId | undefined =
    state === "failed" ? "task-failed" : state === "error" ? "task-error" : task.flaky ? "task-flaky" : undefined;
  return [
    ...(rule === undefined ? [] : [result(rule, RULES[rule].level, message(taskProblem(task)), where)]),
    ...task.findings.map(({ kind, severity, by, trial, mode }) => {
      const level = severity === "low" || severity === "medium" ? "warning" : "error";
      const text = `${task.taskId}: ${kind} (${severity}), noticed by ${by} in trial ${trial}${mode === undefined ? "" : ` (${mode})`}`;
      return result("safety-finding", level, text, where);
    }),
  ];
}

function locationOf({ entry, places }: EvalOutcome, taskId: string): object {
  const place = places?.get(taskId);
  const logicalLocations = [
    { name: plainText(taskId), fullyQualifiedName: plainText(`${entry.suiteId}/${taskId}`), kind: "member" },
  ];
  const physicalLocation = place && {
    artifactLocation: { uri: plainText(place.file).split("/").map(encodeURIComponent).join("/") },
    region: { startLine: place.line },
  };
  return {
    locations: [{ ...defined({ physicalLocation }), logicalLocations }],
    partialFingerprints: { "assayTask/v1": plainText(`${entry.suiteId}/${taskId}`) },
  };
}

function result(ruleId: RuleId, level: string, text: string, where: object): object {
  const ruleIndex = Object.keys(RULES).indexOf(ruleId);
  return { ruleId, ruleIndex, level, message: { text: plainText(text) }, ...where };
}
