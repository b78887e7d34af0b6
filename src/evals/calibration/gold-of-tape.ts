import { isUtf8 } from "node:buffer";
import type { Host } from "../../engine/host.ts";
import { payloadToRecord } from "../../formats/tapes/record-payload.ts";
import type { Payload, RecordKind } from "../../formats/tapes/tape.ts";
import { isStored } from "../../formats/tapes/tape.ts";
import type { LeftOut } from "../../protocol/evals/judge-certificate-api.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { type FoundGold, GoldCollector, type GoldItem, goldItem } from "./gold-item.ts";
import type { SuiteRubric } from "./suite-rubrics.ts";

/** Labels by people of the steps of an imported tape, with this rubric. */
export async function goldOfTape(
  host: Pick<Host, "store">,
  visible: Visibility,
  run: Run,
  rubric: SuiteRubric & { readonly taskId: string },
  annotations: readonly AnnotationRecord[],
  adjudicated: ReadonlySet<string>,
): Promise<FoundGold> {
  const collector = new GoldCollector(adjudicated);
  for (const annotation of annotations) {
    collector.take(annotation, await itemOf(host, visible, run.runId, rubric, annotation));
  }
  return collector.found();
}

async function itemOf(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  runId: string,
  rubric: SuiteRubric & { readonly taskId: string },
  { target }: AnnotationRecord,
): Promise<GoldItem | LeftOut> {
  const place = target.eventId === undefined ? undefined : await store.findEvent(runId, target.eventId);
  const [event] = place === undefined ? [] : await store.readEvents(runId, place.sequence, 1);
  if (event?.type !== "assay.tape.record") return "about_no_output";
  const { kind } = payloadToRecord((JSON.parse(event.body) as RunEventDoc).payload);
  const step = stepOf(kind);
  if (step === undefined) return "about_no_output";
  const text = async (body: Payload): Promise<string | undefined> => {
    if (!isStored(body)) return body.text;
    const artifact = await store.readArtifact(visible, runId, body.content_hash);
    return artifact !== undefined && isUtf8(artifact.body) ? Buffer.from(artifact.body).toString("utf8") : undefined;
  };
  const output = await text(step.output);
  if (output === undefined) return "no_output";
  const input = "body" in step.input ? ((await text(step.input.body)) ?? null) : step.input.known;
  return goldItem({ ...rubric, trial: 1, input, output, toolResults: [] });
}

interface Step {
  /** A tape keeps the requests of models as digests only. */
  readonly input: { readonly body: Payload } | { readonly known: unknown };
  readonly output: Payload;
}

/** The input and output of a step; undefined for steps without an output. */
export function stepOf(kind: RecordKind): Step | undefined {
  switch (kind.kind) {
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
