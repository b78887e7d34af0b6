import type { EvalReport } from "../../protocol/eval-api.ts";
import type { Finding, TrialResult } from "../run/task-result.ts";
import { cut } from "../score/difference.ts";
import { differenceLines } from "../score/difference-text.ts";
import { outputText } from "../score/output-text.ts";

/** A trial as a report with content has it. */
type ToldTrial = TrialResult & { readonly findings?: readonly Finding[] };

const OUTPUT_CHARACTERS = 2000;
const MESSAGE_CHARACTERS = 2000;

/** What went wrong in the tasks that did not pass, in lines that quote it. Whoever prints them makes them safe first. */
export function quotesOf({ tasks }: EvalReport): Map<string, string[]> {
  const quotes = new Map<string, string[]>();
  for (const { taskId, passed, content } of tasks) {
    if (passed || content === undefined) continue;
    const trials = content as readonly ToldTrial[];
    const wrong = trials.filter((trial) => !trial.passed || (trial.findings ?? []).length > 0);
    quotes.set(
      taskId,
      wrong.flatMap((trial) => [
        ...(trials.length > 1 ? [`Trial ${trial.trial}${marksOf(trial)}:`] : []),
        ...trialLines(trial),
      ]),
    );
  }
  return quotes;
}

function marksOf({ mode, cached }: ToldTrial): string {
  const marks = [...(mode === undefined ? [] : [mode]), ...(cached ? ["cached"] : [])];
  return marks.length === 0 ? "" : ` (${marks.join(", ")})`;
}

function trialLines({ error, difference, criteria = [], findings = [], output }: ToldTrial): string[] {
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
