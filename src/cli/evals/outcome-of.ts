import { conclude, type Demands, FAIL_ON, type FailOn } from "../../evals/report/conclusion.ts";
import { quotesOf } from "../../evals/report/quotes.ts";
import type { EvalOutcome } from "../../formats/evals/eval-outcome.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { EvalEntry } from "../../protocol/evals/eval-baseline.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Client } from "../client/client.ts";
import { split } from "../files/arguments.ts";
import { type EvalBackend, reportOf } from "./eval-backend.ts";

/** What an evaluation came to, with all that was said in it. */
export async function outcomeOf(backend: EvalBackend, runId: string, demands: Demands): Promise<EvalOutcome> {
  const entry = await backend.client.evals.get(runId);
  const report = isTerminal(entry.status) ? await endedReport(backend.client, entry) : undefined;
  if (report === undefined) {
    const conclusion = conclude(entry, undefined, demands);
    return {
      entry,
      conclusion: (await backend.isInterrupted(entry)) ? { ...conclusion, ...interrupted(runId) } : conclusion,
    };
  }
  return { entry, report, conclusion: conclude(entry, report, demands), quotes: quotesOf(report) };
}

function interrupted(runId: string): { readonly sentence: string } {
  const how = `go on with the same \`assay eval run\` command and --resume ${runId}`;
  return { sentence: `No verdict: the evaluation has not ended; it was interrupted. To finish it, ${how}.` };
}

/** How it ended is known without the report of one that was stopped, which an older server does not have. */
async function endedReport(client: Client, { runId, status }: EvalEntry): Promise<EvalReport | undefined> {
  try {
    return await reportOf(client, runId);
  } catch (error) {
    const isMissing = error instanceof AppError && (error.code === "run_state_conflict" || error.code === "not_found");
    if (status !== "completed" && isMissing) return undefined;
    throw error;
  }
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
