import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { evalPlanOf } from "./baseline.ts";
import type { EvalPlan } from "./eval-plan.ts";

export interface EndedEval {
  readonly run: Run;
  readonly plan: EvalPlan;
}

/** Throws `not_found` for what is no evaluation, and `run_state_conflict` for one that has not completed. */
export async function completedEval(host: Host, visible: Visibility, runId: string): Promise<EndedEval> {
  const found = await endedEval(host, visible, runId);
  if (found.run.status === "completed") return found;
  throw conflict(found.run, `ended as ${found.run.status}`);
}

/** Includes stopped evaluations: their finished tasks are kept. */
export async function endedEval(host: Host, visible: Visibility, runId: string): Promise<EndedEval> {
  const run = await visibleRun(host, visible, runId);
  const plan = evalPlanOf(run);
  if (plan === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  if (!isTerminal(run.status)) throw conflict(run, "has not ended");
  return { run, plan };
}

function conflict({ runId, status: runStatus }: Run, state: string): AppError {
  return new AppError("run_state_conflict", { runId, runStatus, problem: `the evaluation ${state}` });
}

/** The error of a failed run. */
export function failureOf({ error }: Run): { readonly error?: string; readonly errorMessage?: string } {
  if (error === undefined) return {};
  // Messages of `eval_` errors are written here and quote nothing; others may repeat text of an agent or a server.
  return { error: error.code, ...(error.code.startsWith("eval_") ? { errorMessage: error.message } : {}) };
}

/** The run that holds the results: a replay judged nothing anew, so its results are those of its source. */
export function resultsRunId(run: Run): string {
  return isReplay(run) && run.forkedFrom !== undefined ? run.forkedFrom.runId : run.runId;
}
