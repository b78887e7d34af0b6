import type { LogRecord } from "../../formats/otlp/otlp-logs.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { AnnotationChange, AnnotationRecord } from "../../store/port/judgments.ts";
import { spanIdOf } from "../runs/run-trace.ts";

interface RecordSettings {
  /** Whether what people wrote goes out too. */
  readonly content: boolean;
  readonly scrubber: Scrubber;
  /** The trace of the judged run. */
  readonly traceId: string;
}

/** Labels that are a verdict and not somebody's words. */
const VERDICTS: ReadonlySet<string> = new Set(["pass", "fail"]);

/**
 * What the OpenTelemetry conventions for generative AI call the result of an evaluation. A judgment that replaces
 * another comes with its own record, and closing a flag judges nothing, so neither has one here.
 */
export function judgmentRecord(
  { change, annotation }: AnnotationChange,
  settings: RecordSettings,
): LogRecord | undefined {
  if (change === "recorded") {
    const { createdAtMs } = annotation;
    return record("gen_ai.evaluation.result", createdAtMs, annotation, settings, {
      ...scoreOf(annotation, settings),
      ...writtenOf(annotation, settings),
    });
  }
  if (change === "retracted") {
    const { retraction, createdAtMs } = annotation;
    return record("assay.evaluation.retracted", retraction?.atMs ?? createdAtMs, annotation, settings, {});
  }
  return undefined;
}

function record(
  eventName: string,
  atMs: number,
  annotation: AnnotationRecord,
  { traceId }: RecordSettings,
  more: LogRecord["attributes"],
): LogRecord {
  const { annotationId, tenant, runId, workflowId, agentId, target, aboutNode, signal, actor, actorKind } = annotation;
  return {
    eventName,
    atMs,
    traceId,
    spanId: spanIdOf(runId, 0),
    attributes: {
      // The same whenever it is sent, so that a receiver can tell a repetition.
      "log.record.uid": `${annotationId}/${eventName}`,
      "gen_ai.evaluation.name": signal.kind,
      ...more,
      "gen_ai.agent.id": agentId,
      "openwop.run_id": runId,
      "openwop.workflow_id": workflowId,
      "openwop.node_id": aboutNode,
      "openwop.event_id": target.eventId,
      "assay.annotation_id": annotationId,
      "assay.supersedes": annotation.supersedes,
      "assay.tenant": tenant,
      "assay.actor": actor,
      "assay.actor_kind": actorKind,
      "assay.confidence": annotation.confidence,
      "assay.imported_by": annotation.importedBy,
    },
  };
}

function scoreOf({ signal }: AnnotationRecord, { content, scrubber }: RecordSettings): LogRecord["attributes"] {
  switch (signal.kind) {
    case "rating":
      return { "gen_ai.evaluation.score.value": signal.rating };
    case "label": {
      const { label = "" } = signal;
      const shown = content || VERDICTS.has(label) ? scrubber.scrubText(label) : undefined;
      return { "gen_ai.evaluation.score.label": shown };
    }
    case "correction":
      return { "gen_ai.evaluation.score.label": "corrected" };
    case "flag":
      return { "gen_ai.evaluation.score.label": "flagged" };
  }
}

/** Clean since it was recorded; what has become known as a secret since then is taken out here. */
function writtenOf({ note, signal }: AnnotationRecord, { content, scrubber }: RecordSettings): LogRecord["attributes"] {
  if (!content) return {};
  const clean = (text: string | undefined) => (text === undefined ? undefined : scrubber.scrubText(text));
  const correction = signal.kind === "correction" ? { "assay.correction": clean(signal.correction) } : {};
  return { "gen_ai.evaluation.explanation": clean(note), ...correction };
}
