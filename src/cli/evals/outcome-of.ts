import { conclude, type Demands, FAIL_ON, type FailOn } from "../../evals/report/conclusion.ts";
import { quotesOf } from "../../evals/report/quotes.ts";
import type { EvalOutcome } from "../../formats/eval/eval-outcome.ts";
import { AppError } from "../../protocol/errors.ts";
import { split } from "../name-list.ts";
import type { EvalHome } from "./eval-home.ts";

/** What an evaluation came to, with all that was said in it. */
export async function outcomeOf(home: EvalHome, runId: string, demands: Demands): Promise<EvalOutcome> {
  const entry = await home.entry(runId);
  if (entry.status !== "completed") return { entry, conclusion: conclude(entry, undefined, demands) };
  const report = await home.report(runId);
  return { entry, report, conclusion: conclude(entry, report, demands), quotes: quotesOf(report) };
}

/** The same for those who may not read the tasks. */
export function withoutContent({ entry, report, conclusion, places }: EvalOutcome): EvalOutcome {
  const told = report && { ...report, tasks: report.tasks.map(({ content: _, ...task }) => task) };
  return {
    entry,
    conclusion,
    ...(told === undefined ? {} : { report: told }),
    ...(places === undefined ? {} : { places }),
  };
}

export function demandsOf(flags: { readonly failOn: readonly string[]; readonly requireVerdict: boolean }): Demands {
  const failOn = split(flags.failOn);
  const unknown = failOn.find((word) => !FAIL_ON.some((known) => known === word));
  if (unknown !== undefined) {
    throw new AppError("unusable_input", { problem: `--fail-on takes ${FAIL_ON.join(", ")}, and not ${unknown}` });
  }
  return { failOn: failOn as FailOn[], requireVerdict: flags.requireVerdict };
}

export const NO_DEMANDS: Demands = { failOn: [], requireVerdict: false };
