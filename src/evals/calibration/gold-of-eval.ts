import type { Host } from "../../engine/host.ts";
import type { LeftOut } from "../../protocol/evals/judge-certificate-api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { resultsRunId } from "../run/completed-eval.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import { KEPT_MAX } from "../run/kept-output.ts";
import { readResults } from "../run/read-results.ts";
import type { TaskResult, TrialResult } from "../run/task-result.ts";
import { outputText } from "../score/output-text.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { type FoundGold, GoldCollector, type GoldItem, goldItem } from "./gold-item.ts";
import type { SuiteRubric } from "./suite-rubrics.ts";

/** The results that annotations of an evaluation refer to. */
interface Results {
  readonly run: Run;
  readonly byTask: ReadonlyMap<string, TaskResult>;
  readonly byInvocation: ReadonlyMap<string, { readonly taskId: string; readonly trial: TrialResult }>;
  readonly inputs: ReadonlyMap<string, unknown>;
  readonly rubrics: ReadonlyMap<string, SuiteRubric>;
}

/** Labels by people of the outputs of an evaluation, with rubrics that may be newer than those of the evaluation. */
export async function goldOfEval(
  host: Pick<Host, "store">,
  run: Run,
  plan: EvalPlan,
  rubrics: ReadonlyMap<string, SuiteRubric>,
  annotations: readonly AnnotationRecord[],
  adjudicated: ReadonlySet<string>,
): Promise<FoundGold> {
  const { tenant } = run.owner;
  const kept = await readResults(host.store, tenant, resultsRunId(run));
  const suite = await suiteAsOf(host, tenant, `${plan.suiteId}@${plan.suiteVersion}`, plan.suiteSha256);
  const results: Results = {
    run,
    byTask: new Map(kept.map((result) => [result.taskId, result])),
    byInvocation: new Map(
      kept.flatMap(({ taskId, trials }) => trials.map((trial) => [trial.invocationId, { taskId, trial }])),
    ),
    inputs: new Map(suite.tasks.map(({ taskId, input }) => [taskId, input])),
    rubrics,
  };
  const collector = new GoldCollector(adjudicated);
  for (const annotation of annotations) collector.take(annotation, await itemOf(host, results, annotation));
  return collector.found();
}

async function itemOf({ store }: Pick<Host, "store">, results: Results, annotation: AnnotationRecord) {
  const { eventId } = annotation.target;
  // Labels of the whole run count for its task only if it has exactly one.
  if (eventId === undefined) {
    const [only] = results.byTask.keys();
    return results.byTask.size === 1 && only !== undefined ? onlyTrialOf(results, only) : "about_no_output";
  }
  const place = await store.findEvent(results.run.runId, eventId);
  const [event] = place === undefined ? [] : await store.readEvents(results.run.runId, place.sequence, 1);
  if (event === undefined) return "about_no_output";
  const { payload } = JSON.parse(event.body) as { payload?: { taskId?: string; invocationId?: string } };
  if (event.type === "eval.scored" && payload?.taskId !== undefined) return onlyTrialOf(results, payload.taskId);
  const invoked = results.byInvocation.get(payload?.invocationId ?? "");
  return invoked === undefined ? "about_no_output" : itemOfTrial(results, invoked.taskId, invoked.trial);
}

/** The score of a task covers all its trials; with several outputs, the label names none of them. */
function onlyTrialOf(results: Results, taskId: string): GoldItem | LeftOut {
  const [trial, ...others] = results.byTask.get(taskId)?.trials ?? [];
  if (trial === undefined) return "no_output";
  return others.length > 0 ? "several_trials" : itemOfTrial(results, taskId, trial);
}

function itemOfTrial({ rubrics, inputs }: Results, taskId: string, trial: TrialResult): GoldItem | LeftOut {
  const rubric = rubrics.get(taskId);
  if (rubric === undefined || !inputs.has(taskId)) return "no_such_rubric";
  const { output, toolResults = [] } = trial;
  if (output === undefined) return "no_output";
  // Outputs that were cut are not the outputs that people saw.
  if ([output, ...toolResults].some((one) => outputText(one).length >= KEPT_MAX)) return "output_cut";
  return goldItem({ ...rubric, taskId, trial: trial.trial, input: inputs.get(taskId), output, toolResults });
}
