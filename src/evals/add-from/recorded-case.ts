import type { Host } from "../../engine/host.ts";
import { validationError } from "../../protocol/errors.ts";
import type { ToolResponse } from "../../protocol/evals/eval-suite.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { storedTexts, tapeRecordAt } from "../calibration/gold-of-run.ts";
import { scoredEvents } from "../override/score-judgments.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import { KEPT_MAX, resultOfTask } from "../run/task-result.ts";
import { outputText } from "../score/output-text.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import type { Correction } from "./find-correction.ts";
import { recordedStep } from "./tape-tasks.ts";

/** The input, tools, memory and answers of an agent, from the record of a run. */
export interface RecordedCase {
  /** The default name of a task made from this case. */
  readonly name: string;
  readonly agentId?: string;
  readonly agentVersion?: string;
  readonly nodeId?: string;
  readonly input: unknown;
  /** The answer of each call; empty where there was none. */
  readonly outputs: readonly unknown[];
  readonly toolResponses: readonly ToolResponse[];
  readonly memorySeed: readonly Readonly<Record<string, unknown>>[];
  /** The parts that the record does not hold, for users of the task. */
  readonly notes: readonly string[];
}

/** The task of an evaluation whose answer was corrected: the same question and fixtures, with what it should have been. */
export async function evalCase(host: Host, run: Run, plan: EvalPlan, { target }: Correction): Promise<RecordedCase> {
  const { tenant } = run.owner;
  const taskId = await taskMeant(host, run, plan, target.eventId);
  const suite = await suiteAsOf(host, tenant, plan);
  const task = suite.tasks.find((one) => one.taskId === taskId);
  const result = await resultOfTask(host.store, run, plan.taskIds, taskId);
  if (task === undefined || result === undefined) throw validationError(`task ${taskId} has no result yet`);
  const answered = result.trials.flatMap(({ output }) => (output === undefined ? [] : [output]));
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
    throw validationError(
      "the evaluation has several tasks; correct the one that is meant: assay eval override RUN TASK --correction TEXT",
    );
  }
  const event = await host.store.findEvent(run.runId, eventId);
  // All events of a task are written with its score, which comes last.
  const scored = await scoredEvents(host.store, run.runId);
  const isOfTask = event !== undefined && (event.type === "eval.scored" || event.type.startsWith("agent."));
  const found = isOfTask ? scored.find(({ sequence }) => sequence >= event.sequence) : undefined;
  if (found !== undefined) return found.taskId;
  throw validationError("the correction is about an event that belongs to no task; correct the task that is meant");
}

export async function tapeCase(host: Host, run: Run, { target }: Correction): Promise<RecordedCase> {
  const { store, scrubber } = host;
  const record = await tapeRecordAt(store, run.runId, target.eventId);
  const step = record && (await recordedStep(record.kind, storedTexts(store, run.owner, run.runId)));
  if (step === undefined) {
    throw validationError(
      "the correction is about no step of the tape that gave an answer; correct the event of such a step",
    );
  }
  return {
    name: `${run.runId}-${record?.sequence}`,
    input: scrubber.scrubValue(step.input),
    outputs: [scrubber.scrubText(step.output)],
    toolResponses: [],
    memorySeed: [],
    notes: step.notes,
  };
}
