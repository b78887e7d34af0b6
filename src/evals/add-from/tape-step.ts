import { isUtf8 } from "node:buffer";
import type { Host } from "../../engine/host.ts";
import { payloadToRecord } from "../../formats/tapes/record-payload.ts";
import type { RecordKind } from "../../formats/tapes/tape.ts";
import { isStored, type Payload } from "../../formats/tapes/tape.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { stepOf } from "../calibration/gold-of-tape.ts";
import type { Correction } from "./find-correction.ts";
import type { RecordedCase } from "./recorded-case.ts";

/** The input and output of a step of a tape. */
export interface RecordedStep {
  readonly input: unknown;
  readonly output: string;
  readonly notes: readonly string[];
}

export type TextOf = (body: Payload) => Promise<string | undefined>;

/** Undefined for a step without an output, or whose output is not readable. */
export async function recordedStep(kind: RecordKind, textOf: TextOf): Promise<RecordedStep | undefined> {
  const step = stepOf(kind);
  const output = step && (await textOf(step.output));
  if (step === undefined || output === undefined) return undefined;
  if (kind.kind === "llm_call" || kind.kind === "decision_evaluation") {
    const note = "A tape has only the digest of what a model was asked; write the question into the input.";
    return { input: { request_digest: kind.request_digest }, output, notes: [note] };
  }
  const input = "body" in step.input ? parsed((await textOf(step.input.body)) ?? "") : step.input.known;
  return { input, output, notes: [] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The step of an imported tape that was corrected. */
export async function tapeCase(host: Host, run: Run, { target }: Correction): Promise<RecordedCase> {
  const { store, scrubber } = host;
  const place = target.eventId === undefined ? undefined : await store.findEvent(run.runId, target.eventId);
  const [event] = place === undefined ? [] : await store.readEvents(run.runId, place.sequence, 1);
  const step =
    event?.type === "assay.tape.record"
      ? await recordedStep(payloadToRecord((JSON.parse(event.body) as RunEventDoc).payload).kind, bodiesOf(host, run))
      : undefined;
  if (step === undefined) {
    throw new AppError("validation_error", {
      problem: "the correction is about no step of the tape that gave an answer; correct the event of such a step",
    });
  }
  return {
    name: `${run.runId}-${place?.sequence}`,
    input: scrubber.scrubValue(step.input),
    outputs: [scrubber.scrubText(step.output)],
    toolResponses: [],
    memorySeed: [],
    notes: step.notes,
  };
}

function bodiesOf({ store }: Host, { runId, owner }: Run): TextOf {
  return async (body) => {
    if (!isStored(body)) return body.text;
    const artifact = await store.readArtifact(owner, runId, body.content_hash);
    return artifact !== undefined && isUtf8(artifact.body) ? Buffer.from(artifact.body).toString("utf8") : undefined;
  };
}
