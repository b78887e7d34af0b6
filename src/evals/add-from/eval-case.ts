import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { scoredEvents } from "../override/scored-events.ts";
import { resultsRunId } from "../run/completed-eval.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import { KEPT_MAX } from "../run/kept-output.ts";
import { readResults } from "../run/read-results.ts";
import type { TrialResult } from "../run/task-result.ts";
import { outputText } from "../score/output-text.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import type { Correction } from "./find-correction.ts";
import type { RecordedCase } from "./recorded-case.ts";

/** The task of an evaluation whose answer was corrected: the same question and fixtures, with what it should have been. */
export async function evalCase(host: Host, run: Run, plan: EvalPlan, { target }: Correction): Promise<RecordedCase> {
  const { tenant } = run.owner;
  const taskId = await taskMeant(host, run, plan, target.eventId);
  const suite = await suiteAsOf(host, tenant, `${plan.suiteId}@${plan.suiteVersion}`, plan.suiteSha256);
  const task = suite.tasks.find((one) => one.taskId === taskId);
  const results = await readResults(host.store, tenant, resultsRunId(run));
  const result = results.find((one) => one.taskId === taskId);
  if (task === undefined || result === undefined) throw refuse(`task ${taskId} has no result yet`);
  const answered = result.trials.filter(hasOutput).map(({ output }) => output);
  const { toolResponses = [], memorySeed = [] } = task.fixtures ?? {};
  const isCut = answered.some((output) => outputText(output).length >= KEPT_MAX);
  return {
    name: `${taskId}-corrected`,
    agentId: plan.agentId,
    agentVersion: plan.resolvedAgentVersion,
    input: task.input,
    outputs: answered,
    toolResponses,
    memorySeed,
    notes: isCut ? [`Of the recorded answer only the first ${KEPT_MAX} characters are kept and were compared.`] : [],
  };
}

async function taskMeant(host: Host, run: Run, { taskIds }: EvalPlan, eventId: string | undefined): Promise<string> {
  const [only] = taskIds;
  if (eventId === undefined) {
    if (only !== undefined && taskIds.length === 1) return only;
    throw refuse(
      "the evaluation has several tasks; correct the one that is meant: assay eval override RUN TASK --correction TEXT",
    );
  }
  const event = await host.store.findEvent(run.runId, eventId);
  // All events of a task are written with its score, which comes last.
  const scored = await scoredEvents(host.store, run.runId);
  const isOfTask = event !== undefined && (event.type === "eval.scored" || event.type.startsWith("agent."));
  const found = isOfTask ? scored.find(({ sequence }) => sequence >= event.sequence) : undefined;
  if (found !== undefined) return found.taskId;
  throw refuse("the correction is about an event that belongs to no task; correct the task that is meant");
}

function hasOutput(trial: TrialResult): boolean {
  return trial.output !== undefined;
}

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
