import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalTaskBodies, EvalTrialBody } from "../../protocol/evals/eval-task-bodies.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { evalPlanOf } from "./baseline.ts";
import { resultsRunId } from "./completed-eval.ts";
import { readResults } from "./read-results.ts";
import type { TaskResult, TrialResult } from "./task-result.ts";
import { readBodies, type TrialBody } from "./trial-body.ts";

/**
 * Bodies of one task: its input, and each trial's output, reasoning and tool calls. Throws `not_found` for a task that the evaluation
 * does not have, and `run_state_conflict` for one that has no score yet.
 */
export async function evalTaskBodies(
  host: Host,
  visible: Visibility,
  runId: string,
  taskId: string,
): Promise<EvalTaskBodies> {
  const run = await visibleRun(host, visible, runId);
  const plan = evalPlanOf(run);
  if (plan === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  const { tenant } = run.owner;
  const { suiteId, suiteVersion, agentId, resolvedAgentVersion } = plan;
  const suite = await suiteAsOf(host, tenant, `${suiteId}@${suiteVersion}`, plan.suiteSha256);
  const task = suite.tasks.find((one) => one.taskId === taskId);
  if (task === undefined || !plan.taskIds.includes(taskId)) {
    throw new AppError("not_found", { what: "task", runId, taskId });
  }
  const kept = resultsRunId(run);
  const results = (await readResults(host.store, tenant, kept)).filter((one) => one.taskId === taskId);
  const [first] = results;
  if (first === undefined) {
    if (isTerminal(run.status)) throw new AppError("not_found", { what: `result of task ${taskId}`, runId, taskId });
    const problem = `task ${taskId} has no score yet; ask again when the evaluation has ended`;
    throw new AppError("run_state_conflict", { runId, runStatus: run.status, problem });
  }
  const bodies = await readBodies(host.store, tenant, kept, taskId);
  return {
    runId,
    suiteId,
    suiteVersion,
    agentId,
    resolvedAgentVersion,
    taskId,
    input: task.input ?? null,
    expected: task.expected,
    ...(task.fixtures === undefined ? {} : { fixtures: task.fixtures }),
    score: Math.min(...results.map(({ score }) => score)),
    passed: results.every(({ passed }) => passed),
    bar: first.bar,
    trials: results.flatMap((result) =>
      result.trials.map((trial) => trialBody(result, trial, bodies.get(trial.invocationId))),
    ),
  };
}

/** Evaluations of older versions kept results of tools only where a judge saw them, and never arguments. */
function trialBody({ findings }: TaskResult, trial: TrialResult, body: TrialBody | undefined): EvalTrialBody {
  const { toolResults = [], criteria, ...figures } = trial;
  const { reasoning, toolCalls, toolCallsLeftOut } = body ?? {};
  return {
    ...figures,
    ...(reasoning === undefined ? {} : { reasoning }),
    toolCalls: [...(toolCalls ?? toolResults)],
    ...(toolCallsLeftOut === undefined ? {} : { toolCallsLeftOut }),
    ...(criteria === undefined ? {} : { criteria: [...criteria] }),
    // Trials are counted in each pass, so the number alone names several.
    findings: findings
      .filter((one) => one.trial === trial.trial && one.mode === trial.mode)
      .map(({ trial: _, mode: __, ...finding }) => finding),
  };
}
