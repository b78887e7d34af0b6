import type { ErrorCode } from "../errors.ts";
import { AnnotationView } from "../judgments/annotation-api.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { EvalReport, EvalSummary } from "./api.ts";
import { BaselineFile, KeptBaselineFile } from "./baseline-file.ts";
import {
  BaselineListQuery,
  BaselinePage,
  EvalBaseline,
  EvalEntry,
  EvalListQuery,
  EvalPage,
  EvalReportQuery,
  SetBaselineRequest,
} from "./eval-baseline.ts";
import { JudgeTaskRequest } from "./eval-override.ts";
import { EvalTaskBodies } from "./eval-task-bodies.ts";

const gate = { capability: "evalSuite", off: "not_found" } as const;
const tag = "evals";
const READS: readonly ErrorCode[] = [...PROTECTED, "not_found"];
const OF_RUN: readonly ErrorCode[] = [...READS, "engine_version_mismatch", "run_state_conflict"];
const EVALS = "/v1/host/assay/evals";
const BASELINES = "/v1/host/assay/eval-baselines";
const FILES = "/v1/host/assay/eval-baseline-files";

/** Results of evaluations. They are started like any run, with `mode: "eval"`. */
export const EVAL_OPERATIONS = {
  getEvalSummary: {
    method: "GET",
    path: "/v1/runs/{runId}/eval-summary",
    tag,
    summary: "The scorecard of an evaluation: figures only. 409 until it has completed.",
    access: "runs:read",
    gate,
    success: { status: 200, schema: EvalSummary },
    errors: OF_RUN,
  },
  listEvals: {
    method: "GET",
    path: EVALS,
    tag,
    summary: "The caller's evaluations, newest first.",
    access: "runs:read",
    gate,
    query: EvalListQuery,
    success: { status: 200, schema: EvalPage },
    errors: [...READS, "validation_error"],
  },
  getEval: {
    method: "GET",
    path: `${EVALS}/{runId}`,
    tag,
    summary: "One of them, whatever has become of it.",
    access: "runs:read",
    gate,
    success: { status: 200, schema: EvalEntry },
    errors: [...READS, "engine_version_mismatch"],
  },
  getEvalReport: {
    method: "GET",
    path: `${EVALS}/{runId}/report`,
    tag,
    summary:
      "Everything there is to know of an evaluation: trials, intervals, flaky tasks, the comparison with its baseline. Of one that was stopped, what was done (`complete: false`); 409 until it has ended. Texts only with `content=true`, which takes scope `artifacts:read` too.",
    access: "runs:read",
    gate,
    query: EvalReportQuery,
    success: { status: 200, schema: EvalReport },
    errors: [...OF_RUN, "validation_error"],
  },
  getEvalTaskBodies: {
    method: "GET",
    path: `${EVALS}/{runId}/tasks/{taskId}`,
    tag,
    summary:
      "What a task was asked, and what each trial answered, reasoned and called. Scrubbed of secrets. The report of the evaluation links to it (`tasks[].bodies`).",
    access: "artifacts:read",
    gate,
    success: { status: 200, schema: EvalTaskBodies },
    errors: OF_RUN,
  },
  judgeEvalTask: {
    method: "POST",
    path: `${EVALS}/{runId}/tasks/{taskId}:judge`,
    tag,
    summary:
      "Disagree with the score of a task, or confirm it: the same as an annotation on its `eval.scored` event. The report shows it next to the original.",
    access: "runs:annotate",
    gate,
    body: JudgeTaskRequest,
    idempotent: "one",
    success: { status: 201, schema: AnnotationView },
    errors: [...READS, ...KEYED, ...BODY, "engine_version_mismatch", "annotation_conflict", "capability_not_provided"],
  },
  listBaselines: {
    method: "GET",
    path: BASELINES,
    tag,
    summary: "The evaluations that later ones are compared with, by suite and name.",
    access: "runs:read",
    gate,
    query: BaselineListQuery,
    success: { status: 200, schema: BaselinePage },
    errors: [...READS, "validation_error"],
  },
  getBaseline: {
    method: "GET",
    path: `${BASELINES}/{suiteId}/{baseline}`,
    tag,
    summary: "One of them.",
    access: "runs:read",
    gate,
    success: { status: 200, schema: EvalBaseline },
    errors: READS,
  },
  exportBaseline: {
    method: "GET",
    path: `${BASELINES}/{suiteId}/{baseline}/file`,
    tag,
    summary: "A baseline as a file that can be kept anywhere and compared with on any host: figures only.",
    access: "runs:read",
    gate,
    success: { status: 200, schema: BaselineFile },
    errors: READS,
  },
  keepBaselineFile: {
    method: "PUT",
    path: `${FILES}/{sha256}`,
    tag,
    summary:
      "Keep such a file under its digest, so that an evaluation can be compared with it (`configurable.baselineFileSha256`) or a name be given to it.",
    access: "runs:create",
    gate,
    body: BaselineFile,
    takesTape: true,
    success: { status: 200, schema: KeptBaselineFile },
    errors: [...READS, ...BODY],
  },
  setBaseline: {
    method: "PUT",
    path: `${BASELINES}/{suiteId}/{baseline}`,
    tag,
    summary:
      "Name an evaluation that has completed, or a baseline file, as what later ones are compared with. It may replace another one.",
    access: "suites:write",
    gate,
    body: SetBaselineRequest,
    success: { status: 200, schema: EvalBaseline },
    errors: [...OF_RUN, ...BODY, "document_conflict"],
  },
  removeBaseline: {
    method: "DELETE",
    path: `${BASELINES}/{suiteId}/{baseline}`,
    tag,
    summary: "Take the name away. The evaluation stays.",
    access: "suites:write",
    gate,
    success: { status: 204 },
    errors: [...READS, "document_conflict"],
  },
} as const satisfies Record<string, Operation>;
