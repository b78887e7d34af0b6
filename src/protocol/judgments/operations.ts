import { operations } from "../operation.ts";
import { Annotation, AnnotationList, CreateAnnotation } from "./annotation.ts";
import {
  ANNOTATION_EVENTS,
  AnnotateRequest,
  AnnotationFilter,
  AnnotationListQuery,
  AnnotationPage,
  AnnotationView,
  CloseFlagRequest,
  RetractRequest,
} from "./annotation-api.ts";
import { FeedbackSummary, FeedbackSummaryQuery } from "./feedback-api.ts";
import { ImportRequest, ImportResponse, JudgmentLine } from "./judgment-file.ts";

const common = { tag: "annotations", capability: "feedback" } as const;

/** Judgments on runs, their events and nodes: the two routes of the protocol, and Assay's own. */
export const JUDGMENT_OPERATIONS = operations(common, {
  createAnnotation: {
    method: "POST",
    path: "/v1/runs/{runId}/annotations",
    summary: "Record a judgment on a run, one of its events or one of its nodes. Also when the run has ended.",
    access: "runs:annotate",
    looksUpRun: "identity",
    body: CreateAnnotation,
    idempotent: "one",
    success: { status: 201, schema: Annotation },
    errors: ["not_found", "engine_version_mismatch"],
  },
  listAnnotations: {
    method: "GET",
    path: "/v1/runs/{runId}/annotations",
    summary: "Every judgment that was ever recorded on a run, oldest first.",
    access: "runs:read",
    success: { status: 200, schema: AnnotationList },
    errors: ["not_found", "engine_version_mismatch"],
  },
  annotateRun: {
    method: "POST",
    path: "/v1/host/assay/runs/{runId}/annotations",
    summary: "Record a judgment that may replace an earlier one of the same actor, or carry an agent's confidence.",
    access: "runs:annotate",
    looksUpRun: "identity",
    body: AnnotateRequest,
    idempotent: "one",
    success: { status: 201, schema: AnnotationView },
    errors: ["not_found", "annotation_conflict", "engine_version_mismatch"],
  },
  listJudgments: {
    method: "GET",
    path: "/v1/host/assay/annotations",
    summary: "Judgments across runs, newest first, with their state and history; filters and full-text search.",
    access: "runs:read",
    query: AnnotationListQuery,
    success: { status: 200, schema: AnnotationPage },
  },
  streamJudgments: {
    method: "GET",
    path: "/v1/host/assay/annotations/events",
    tag: "events",
    summary: "Follow judgments as server-sent events, whatever run they are on. Resumes after Last-Event-ID.",
    access: "runs:read",
    query: AnnotationFilter,
    success: { status: 200, contentType: "text/event-stream", frames: ANNOTATION_EVENTS },
  },
  getAnnotation: {
    method: "GET",
    path: "/v1/host/assay/annotations/{annotationId}",
    summary: "One judgment with its state and history.",
    access: "runs:read",
    success: { status: 200, schema: AnnotationView },
    errors: ["not_found"],
  },
  retractAnnotation: {
    method: "POST",
    path: "/v1/host/assay/annotations/{annotationId}:retract",
    summary: "Withdraw a judgment. It stays on record and no longer counts. For its author, or an admin.",
    access: "runs:annotate",
    body: RetractRequest,
    idempotent: "one",
    success: { status: 200, schema: AnnotationView },
    errors: ["not_found", "annotation_conflict"],
  },
  closeFlag: {
    method: "POST",
    path: "/v1/host/assay/annotations/{annotationId}:close",
    summary: "Close a flag that has been looked into, with a note about the outcome.",
    access: "runs:annotate",
    body: CloseFlagRequest,
    idempotent: "one",
    success: { status: 200, schema: AnnotationView },
    errors: ["not_found", "annotation_conflict"],
  },
  getFeedbackSummary: {
    method: "GET",
    path: "/v1/host/assay/feedback/summary",
    summary:
      "How runs that ended in a period were judged: ratings, corrections, flags, labels, and rates with intervals.",
    access: "runs:read",
    query: FeedbackSummaryQuery,
    success: { status: 200, schema: FeedbackSummary },
  },
  exportJudgments: {
    method: "GET",
    path: "/v1/host/assay/annotations:export",
    summary: "Judgments with their whole history, oldest first, as JSON lines of any number.",
    access: "runs:read",
    query: AnnotationFilter,
    success: { status: 200, contentType: "application/x-ndjson", line: JudgmentLine },
  },
  importJudgments: {
    method: "POST",
    path: "/v1/host/assay/annotations:import",
    summary: "Import lines of an export, in one commit. Judgments that exist are left, or brought up to date.",
    access: "judgments:import",
    body: ImportRequest,
    idempotent: "one",
    success: { status: 200, schema: ImportResponse },
    errors: ["judgment_format_unsupported", "judgment_file_incomplete", "annotation_conflict"],
  },
});
