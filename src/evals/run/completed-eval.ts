import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import { isReplay } from "../../protocol/forked-from.ts";
import type { Visibility } from "../../protocol/identity.ts";
import type { Run } from "../../protocol/run.ts";
import { isTerminal } from "../../protocol/run-status.ts";
import { evalPlanOf } from "./baseline.ts";
import type { EvalPlan } from "./eval-plan.ts";

/** Throws `not_found` for what is no evaluation, and `run_state_conflict` for one that has not completed. */
export async function completedEval(
  host: Host,
  visible: Visibility,
  runId: string,
): Promise<{ readonly run: Run; readonly plan: EvalPlan }> {
  const run = await visibleRun(host, visible, runId);
  const plan = evalPlanOf(run);
  if (plan === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  if (run.status === "completed") return { run, plan };
  const state = isTerminal(run.status) ? `ended as ${run.status}` : "has not ended";
  throw new AppError("run_state_conflict", { runId, runStatus: run.status, problem: `the evaluation ${state}` });
}

/** Under whose id its results are: a replay judged nothing anew, so what it tells is kept with its source. */
export function resultsRunId(run: Run): string {
  return isReplay(run) && run.forkedFrom !== undefined ? run.forkedFrom.runId : run.runId;
}
