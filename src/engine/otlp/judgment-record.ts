import type { LogRecord } from "../../formats/otlp/otlp-logs.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { AnnotationChange, AnnotationRecord } from "../../store/port/judgments.ts";
import { spanIdOf } from "../runs/run-trace.ts";

interface RecordSettings {
  /** Whether texts of people are exported too. */
  readonly content: boolean;
  readonly scrubber: Scrubber;
  /** The trace of the judged run. */
  readonly traceId: string;
}

/** Labels that are outcomes and not free text. */
const OUTCOMES: ReadonlySet<string> = new Set(["pass", "fail"]);

/**
 * The record of a change of a judgment, by the OpenTelemetry conventions for generative AI. Replaced judgments and closed flags have none: a replacing
 * judgment has its own record, and closing a flag is no judgment.
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
      // The same for each attempt, so that a receiver can detect repetitions.
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
      const shown = content || OUTCOMES.has(label) ? scrubber.scrubText(label) : undefined;
      return { "gen_ai.evaluation.score.label": shown };
    }
    case "correction":
      return { "gen_ai.evaluation.score.label": "corrected" };
    case "flag":
      return { "gen_ai.evaluation.score.label": "flagged" };
  }
}

/** The texts of a judgment, scrubbed again: further secrets may be known since it was recorded. */
function writtenOf({ note, signal }: AnnotationRecord, { content, scrubber }: RecordSettings): LogRecord["attributes"] {
  if (!content) return {};
  const clean = (text: string | undefined) => (text === undefined ? undefined : scrubber.scrubText(text));
  const correction = signal.kind === "correction" ? { "assay.correction": clean(signal.correction) } : {};
  return { "gen_ai.evaluation.explanation": clean(note), ...correction };
}
