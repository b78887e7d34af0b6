import { isUtf8 } from "node:buffer";
import type { Host } from "../../engine/host.ts";
import { isStored, type Payload, payloadToRecord, type RecordKind } from "../../formats/tapes/tape.ts";
import type { LeftOut } from "../../protocol/evals/judge-certificate-api.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";
import type { EvalPlan } from "../run/eval-plan.ts";
import {
  KEPT_MAX,
  outcomesOf,
  resultOfTask,
  type TaskOutcome,
  type TaskResult,
  type TrialOutcome,
} from "../run/task-result.ts";
import { outputText } from "../score/output-text.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { type FoundGold, GoldCollector, type GoldItem, type GoldRoom, goldItem } from "./gold-item.ts";
import type { SuiteRubric } from "./judge-certification.ts";

/** The results that annotations of an evaluation refer to. */
interface Results {
  readonly run: Run;
  readonly byTask: ReadonlyMap<string, TaskOutcome>;
  readonly byInvocation: ReadonlyMap<string, { readonly taskId: string; readonly trial: TrialOutcome }>;
  /** Reads the result of a task: all of them together may be larger than the memory. */
  resultOf(taskId: string): Promise<TaskResult | undefined>;
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
  room: GoldRoom,
): Promise<FoundGold> {
  const { tenant } = run.owner;
  const kept = await outcomesOf(host.store, run);
  const suite = await suiteAsOf(host, tenant, plan);
  const results: Results = {
    run,
    byTask: new Map(kept.map((result) => [result.taskId, result])),
    byInvocation: new Map(
      kept.flatMap(({ taskId, trials }) => trials.map((trial) => [trial.invocationId, { taskId, trial }])),
    ),
    resultOf: keepingLast((taskId) => resultOfTask(host.store, run, plan.taskIds, taskId)),
    inputs: new Map(suite.tasks.map(({ taskId, input }) => [taskId, input])),
    rubrics,
  };
  const collector = new GoldCollector(adjudicated, room);
  for (const annotation of annotations) collector.take(annotation, await itemOf(host, results, annotation));
  return collector.found();
}

/** Annotations of one task often follow each other. */
function keepingLast<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  let last: { readonly key: string; readonly value: Promise<T> } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: read(key) };
    return last.value;
  };
}

async function itemOf({ store }: Pick<Host, "store">, results: Results, annotation: AnnotationRecord) {
  const { eventId } = annotation.target;
  // Labels of the whole run count for its task only if it has exactly one.
  if (eventId === undefined) {
    const [only] = results.byTask.keys();
    return results.byTask.size === 1 && only !== undefined ? onlyTrialOf(results, only) : "about_no_output";
  }
  const event = await eventAt(store, results.run.runId, eventId);
  if (event === undefined) return "about_no_output";
  const { payload } = JSON.parse(event.body) as { payload?: { taskId?: string; invocationId?: string } };
  if (event.type === "eval.scored" && payload?.taskId !== undefined) return onlyTrialOf(results, payload.taskId);
  const invoked = results.byInvocation.get(payload?.invocationId ?? "");
  return invoked === undefined ? "about_no_output" : itemOfTrial(results, invoked.taskId, invoked.trial);
}

/** The score of a task covers all its trials; with several outputs, the label names none of them. */
async function onlyTrialOf(results: Results, taskId: string): Promise<GoldItem | LeftOut> {
  const [trial, ...others] = results.byTask.get(taskId)?.trials ?? [];
  if (trial === undefined) return "no_output";
  return others.length > 0 ? "several_trials" : itemOfTrial(results, taskId, trial);
}

async function itemOfTrial(
  { rubrics, inputs, resultOf }: Results,
  taskId: string,
  { invocationId, trial }: TrialOutcome,
): Promise<GoldItem | LeftOut> {
  const rubric = rubrics.get(taskId);
  if (rubric === undefined || !inputs.has(taskId)) return "no_such_rubric";
  const result = await resultOf(taskId);
  const { output, toolResults = [] } = result?.trials.find((one) => one.invocationId === invocationId) ?? {};
  if (output === undefined) return "no_output";
  // Outputs that were cut are not the outputs that people saw.
  if ([output, ...toolResults].some((one) => outputText(one).length >= KEPT_MAX)) return "output_cut";
  return goldItem({ ...rubric, taskId, trial, input: inputs.get(taskId), output, toolResults });
}

/** Labels by people of the steps of an imported tape, with this rubric. */
export async function goldOfTape(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  { runId }: Run,
  rubric: SuiteRubric & { readonly taskId: string },
  annotations: readonly AnnotationRecord[],
  adjudicated: ReadonlySet<string>,
  room: GoldRoom,
): Promise<FoundGold> {
  const textOf = storedTexts(store, visible, runId);
  const collector = new GoldCollector(adjudicated, room);
  for (const annotation of annotations) {
    const step = stepOf((await tapeRecordAt(store, runId, annotation.target.eventId))?.kind);
    collector.take(annotation, step === undefined ? "about_no_output" : await itemOfStep(rubric, step, textOf));
  }
  return collector.found();
}

async function itemOfStep(
  rubric: SuiteRubric & { readonly taskId: string },
  step: Step,
  textOf: TextOf,
): Promise<GoldItem | LeftOut> {
  const output = await textOf(step.output);
  if (output === undefined) return "no_output";
  const input = "body" in step.input ? ((await textOf(step.input.body)) ?? null) : step.input.known;
  return goldItem({ ...rubric, trial: 1, input, output, toolResults: [] });
}

/** The record of an imported tape that an event holds; undefined for any other event. */
export async function tapeRecordAt(
  store: Pick<Store, "findEvent" | "readEvents">,
  runId: string,
  eventId: string | undefined,
): Promise<{ readonly sequence: number; readonly kind: RecordKind } | undefined> {
  const event = await eventAt(store, runId, eventId);
  if (event?.type !== "assay.tape.record") return undefined;
  const { kind } = payloadToRecord((JSON.parse(event.body) as RunEventDoc).payload);
  return { sequence: event.sequence, kind };
}

async function eventAt(
  store: Pick<Store, "findEvent" | "readEvents">,
  runId: string,
  eventId: string | undefined,
): Promise<StoredEvent | undefined> {
  const place = eventId === undefined ? undefined : await store.findEvent(runId, eventId);
  const [event] = place === undefined ? [] : await store.readEvents(runId, place.sequence, 1);
  return event;
}

/** Reads a body as text; undefined where it is gone or is not text. */
export type TextOf = (body: Payload) => Promise<string | undefined>;

/** Bodies of an imported tape, which are stored with its run. */
export function storedTexts(store: Pick<Store, "readArtifact">, visible: Visibility, runId: string): TextOf {
  return async (body) => {
    if (!isStored(body)) return body.text;
    const artifact = await store.readArtifact(visible, runId, body.content_hash);
    return artifact !== undefined && isUtf8(artifact.body) ? Buffer.from(artifact.body).toString("utf8") : undefined;
  };
}

interface Step {
  /** A tape keeps the requests of models as digests only. */
  readonly input: { readonly body: Payload } | { readonly known: unknown };
  readonly output: Payload;
}

/** The input and output of a step; undefined for steps without an output. */
export function stepOf(kind: RecordKind | undefined): Step | undefined {
  switch (kind?.kind) {
    case "llm_call":
    case "decision_evaluation":
      return { input: { known: null }, output: kind.response };
    case "process_spawn": {
      const { program, args, cwd, stdout_payload } = kind;
      return { input: { known: { program, args: [...args], cwd } }, output: stdout_payload };
    }
    case "mcp_json_rpc":
      return { input: { body: kind.request_payload }, output: kind.response_payload };
    case "model_job":
      return { input: { known: null }, output: kind.event };
    default:
      return undefined;
  }
}
