import type { EvalReport } from "../../protocol/evals/api.ts";
import { cut, differenceLines } from "../score/difference.ts";
import { outputText } from "../score/output-text.ts";
import type { Finding, TrialResult } from "./task-result.ts";

/** A trial as a report with content has it. */
type ReportedTrial = TrialResult & { readonly findings?: readonly Finding[] };

const OUTPUT_CHARACTERS = 2000;
const MESSAGE_CHARACTERS = 2000;

/** The errors of the tasks that did not pass, as lines that quote them. Callers make the lines safe before they print them. */
export function quotesOf({ tasks }: EvalReport): Map<string, string[]> {
  const quotes = new Map<string, string[]>();
  for (const { taskId, passed, content } of tasks) {
    if (passed || content === undefined) continue;
    const trials = content as readonly ReportedTrial[];
    const wrong = trials.filter((trial) => !trial.passed || (trial.findings ?? []).length > 0);
    const alike = byContent(wrong);
    const hasModes = new Set(trials.map(({ mode }) => mode)).size > 1;
    // One trial in each mode, with equal outcomes, needs no label.
    const isOne = alike.length === 1 && wrong.length === trials.length && trials.every(({ trial }) => trial === 1);
    quotes.set(
      taskId,
      alike.flatMap(({ trial, modes, cached, lines }) => [
        ...(trials.length > 1 && !isOne ? [`Trial ${trial}${marksText(hasModes ? modes : [], cached)}:`] : []),
        ...lines,
      ]),
    );
  }
  return quotes;
}

interface Alike {
  readonly trial: number;
  readonly modes: string[];
  readonly cached: boolean;
  readonly lines: readonly string[];
}

/** Equal results of one trial in several modes are quoted once. */
function byContent(trials: readonly ReportedTrial[]): Alike[] {
  const alike = new Map<string, Alike>();
  for (const one of trials) {
    const { trial, mode, cached } = one;
    const lines = trialLines(one);
    const key = JSON.stringify([trial, cached, lines]);
    const same = alike.get(key) ?? { trial, modes: [], cached, lines };
    if (mode !== undefined) same.modes.push(mode);
    alike.set(key, same);
  }
  return [...alike.values()];
}

function marksText(modes: readonly string[], cached: boolean): string {
  const marks = [...modes, ...(cached ? ["cached"] : [])];
  return marks.length === 0 ? "" : ` (${marks.join(", ")})`;
}

function trialLines({ error, difference, criteria = [], findings = [], output }: ReportedTrial): string[] {
  const unmet = criteria.filter(({ met }) => !met);
  return [
    ...(error === undefined ? [] : linesOf(`${error.code}: ${cut(error.message, MESSAGE_CHARACTERS)}`)),
    ...(difference === undefined ? [] : differenceLines(difference)),
    ...unmet.flatMap(({ criterion, evidence }) => [`not met: ${criterion}`, ...linesOf(`  ${evidence}`)]),
    ...findings.map(({ kind, severity, by, note }) => {
      return `finding: ${kind} (${severity}), noticed by ${by}${note === undefined ? "" : `: ${note}`}`;
    }),
    ...(difference === undefined && output !== undefined ? outputLines(output) : []),
  ];
}

function outputLines(output: unknown): string[] {
  const text = outputText(output);
  return linesOf(`output: ${cut(text, OUTPUT_CHARACTERS)}${text.length > OUTPUT_CHARACTERS ? "…" : ""}`);
}

function linesOf(text: string): string[] {
  return text.split("\n");
}
