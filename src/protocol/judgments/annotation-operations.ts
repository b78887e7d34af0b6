import type { ErrorCode } from "../errors.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { Annotation, AnnotationList, CreateAnnotation } from "./annotation.ts";
import {
  AnnotateRequest,
  AnnotationFilter,
  AnnotationListQuery,
  AnnotationPage,
  AnnotationView,
  CloseFlagRequest,
  RetractRequest,
} from "./annotation-api.ts";
import { ANNOTATION_EVENTS } from "./annotation-events.ts";

const FEEDBACK = { capability: "feedback", off: "capability_not_provided" } as const;
const OFF: readonly ErrorCode[] = ["capability_not_provided"];
const OF_RUN: readonly ErrorCode[] = ["not_found", "engine_version_mismatch"];
const CHANGES: readonly ErrorCode[] = [...KEYED, ...BODY, "not_found", "annotation_conflict", ...OFF];

/** Judgments on runs, their events and nodes: the protocol's two routes, and Assay's own. */
export const ANNOTATION_OPERATIONS = {
  createAnnotation: {
    method: "POST",
    path: "/v1/runs/{runId}/annotations",
    tag: "annotations",
    summary: "Record a judgment on a run, one of its events or one of its nodes. Also when the run has ended.",
    access: "runs:annotate",
    gate: FEEDBACK,
    looksUpRun: "identity",
    body: CreateAnnotation,
    idempotent: "one",
    success: { status: 201, schema: Annotation },
    errors: [...PROTECTED, ...KEYED, ...BODY, ...OF_RUN, ...OFF],
  },
  listAnnotations: {
    method: "GET",
    path: "/v1/runs/{runId}/annotations",
    tag: "annotations",
    summary: "Every judgment that was ever recorded on a run, oldest first.",
    access: "runs:read",
    gate: FEEDBACK,
    success: { status: 200, schema: AnnotationList },
    errors: [...PROTECTED, ...OF_RUN, ...OFF],
  },
  annotateRun: {
    method: "POST",
    path: "/v1/host/assay/runs/{runId}/annotations",
    tag: "annotations",
    summary: "Record a judgment that may replace an earlier one of the same actor, or carry an agent's confidence.",
    access: "runs:annotate",
    gate: FEEDBACK,
    looksUpRun: "identity",
    body: AnnotateRequest,
    idempotent: "one",
    success: { status: 201, schema: AnnotationView },
    errors: [...PROTECTED, ...CHANGES, "engine_version_mismatch"],
  },
  listJudgments: {
    method: "GET",
    path: "/v1/host/assay/annotations",
    tag: "annotations",
    summary: "Judgments across runs, newest first, with their state and history; filters and full-text search.",
    access: "runs:read",
    gate: FEEDBACK,
    query: AnnotationListQuery,
    success: { status: 200, schema: AnnotationPage },
    errors: [...PROTECTED, "validation_error", ...OFF],
  },
  streamJudgments: {
    method: "GET",
    path: "/v1/host/assay/annotations/events",
    tag: "events",
    summary: "Follow judgments as server-sent events, whatever run they are on. Resumes after Last-Event-ID.",
    access: "runs:read",
    gate: FEEDBACK,
    query: AnnotationFilter,
    success: { status: 200, contentType: "text/event-stream", frames: ANNOTATION_EVENTS },
    errors: [...PROTECTED, "validation_error", ...OFF],
  },
  getAnnotation: {
    method: "GET",
    path: "/v1/host/assay/annotations/{annotationId}",
    tag: "annotations",
    summary: "One judgment with its state and history.",
    access: "runs:read",
    gate: FEEDBACK,
    success: { status: 200, schema: AnnotationView },
    errors: [...PROTECTED, "not_found", ...OFF],
  },
  retractAnnotation: {
    method: "POST",
    path: "/v1/host/assay/annotations/{annotationId}:retract",
    tag: "annotations",
    summary: "Withdraw a judgment. It stays on record and no longer counts. For its author, or an admin.",
    access: "runs:annotate",
    gate: FEEDBACK,
    body: RetractRequest,
    idempotent: "one",
    success: { status: 200, schema: AnnotationView },
    errors: [...PROTECTED, ...CHANGES],
  },
  closeFlag: {
    method: "POST",
    path: "/v1/host/assay/annotations/{annotationId}:close",
    tag: "annotations",
    summary: "Close a flag that has been looked into, with a note about the outcome.",
    access: "runs:annotate",
    gate: FEEDBACK,
    body: CloseFlagRequest,
    idempotent: "one",
    success: { status: 200, schema: AnnotationView },
    errors: [...PROTECTED, ...CHANGES],
  },
} as const satisfies Record<string, Operation>;
