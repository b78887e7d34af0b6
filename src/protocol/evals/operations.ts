import { AnnotationView } from "../judgments/annotation-api.ts";
import { operations } from "../operation.ts";
import { CreateRunResponse } from "../runs/api.ts";
import { EvalReport, EvalSummary } from "./api.ts";
import {
  BaselineFile,
  BaselineListQuery,
  BaselinePage,
  EvalBaseline,
  EvalEntry,
  EvalListQuery,
  EvalPage,
  EvalReportQuery,
  KeptBaselineFile,
  SetBaselineRequest,
} from "./baselines.ts";
import { JudgeTaskRequest } from "./eval-override.ts";
import { EvalTaskBodies } from "./eval-task-bodies.ts";
import { CalibrateJudge, CertificateListQuery, CertificatePage, CertificateView } from "./judge-certificate-api.ts";

const EVALS = "/v1/host/assay/evals";

const BASELINES = "/v1/host/assay/eval-baselines";

const FILES = "/v1/host/assay/eval-baseline-files";

const CERTIFICATES = "/v1/host/assay/judge-certificates";

const common = { tag: "evals", capability: "evalSuite" } as const;

/** Results of evaluations, which are started like any run, with `mode: "eval"`; baselines; how far the judge of this host agrees with people. */
export const EVAL_OPERATIONS = operations(common, {
  getEvalSummary: {
    method: "GET",
    path: "/v1/runs/{runId}/eval-summary",
    summary: "The scorecard of an evaluation: figures only. 409 until it has completed.",
    access: "runs:read",
    success: { status: 200, schema: EvalSummary },
    errors: ["engine_version_mismatch", "run_state_conflict"],
  },
  listEvals: {
    method: "GET",
    path: EVALS,
    summary: "The caller's evaluations, newest first.",
    access: "runs:read",
    query: EvalListQuery,
    success: { status: 200, schema: EvalPage },
  },
  getEval: {
    method: "GET",
    path: `${EVALS}/{runId}`,
    summary: "One of them, whatever has become of it.",
    access: "runs:read",
    success: { status: 200, schema: EvalEntry },
    errors: ["engine_version_mismatch"],
  },
  getEvalReport: {
    method: "GET",
    path: `${EVALS}/{runId}/report`,
    summary:
      "Everything there is to know of an evaluation: trials, intervals, flaky tasks, the comparison with its baseline. Of one that was stopped, what was done (`complete: false`); 409 until it has ended. Texts only with `content=true`, which takes scope `artifacts:read` too.",
    access: "runs:read",
    query: EvalReportQuery,
    success: { status: 200, schema: EvalReport },
    errors: ["engine_version_mismatch", "run_state_conflict"],
  },
  getEvalTaskBodies: {
    method: "GET",
    path: `${EVALS}/{runId}/tasks/{taskId}`,
    summary:
      "What a task was asked, and what each trial answered, reasoned and called. Scrubbed of secrets. The report of the evaluation links to it (`tasks[].bodies`).",
    access: "artifacts:read",
    success: { status: 200, schema: EvalTaskBodies },
    errors: ["engine_version_mismatch", "run_state_conflict"],
  },
  judgeEvalTask: {
    method: "POST",
    path: `${EVALS}/{runId}/tasks/{taskId}:judge`,
    summary:
      "Disagree with the score of a task, or confirm it: the same as an annotation on its `eval.scored` event. The report shows it next to the original.",
    access: "runs:annotate",
    body: JudgeTaskRequest,
    idempotent: "one",
    success: { status: 201, schema: AnnotationView },
    errors: ["engine_version_mismatch", "annotation_conflict", "capability_not_provided"],
  },
  listBaselines: {
    method: "GET",
    path: BASELINES,
    summary: "The evaluations that later ones are compared with, by suite and name.",
    access: "runs:read",
    query: BaselineListQuery,
    success: { status: 200, schema: BaselinePage },
  },
  getBaseline: {
    method: "GET",
    path: `${BASELINES}/{suiteId}/{baseline}`,
    summary: "One of them.",
    access: "runs:read",
    success: { status: 200, schema: EvalBaseline },
  },
  exportBaseline: {
    method: "GET",
    path: `${BASELINES}/{suiteId}/{baseline}/file`,
    summary: "A baseline as a file that can be kept anywhere and compared with on any host: figures only.",
    access: "runs:read",
    success: { status: 200, schema: BaselineFile },
  },
  keepBaselineFile: {
    method: "PUT",
    path: `${FILES}/{sha256}`,
    summary:
      "Keep such a file under its digest, so that an evaluation can be compared with it (`configurable.baselineFileSha256`) or a name be given to it.",
    access: "runs:create",
    body: BaselineFile,
    takesTape: true,
    success: { status: 200, schema: KeptBaselineFile },
  },
  setBaseline: {
    method: "PUT",
    path: `${BASELINES}/{suiteId}/{baseline}`,
    summary:
      "Name an evaluation that has completed, or a baseline file, as what later ones are compared with. It may replace another one.",
    access: "suites:write",
    body: SetBaselineRequest,
    success: { status: 200, schema: EvalBaseline },
    errors: ["engine_version_mismatch", "run_state_conflict", "document_conflict"],
  },
  removeBaseline: {
    method: "DELETE",
    path: `${BASELINES}/{suiteId}/{baseline}`,
    summary: "Take the name away. The evaluation stays.",
    access: "suites:write",
    success: { status: 204 },
    errors: ["document_conflict"],
  },
  calibrateJudge: {
    method: "POST",
    path: CERTIFICATES,
    summary:
      "Ask the judge about every output of these runs that people judged, in a run of its own whose output names the certificate.",
    access: "suites:write",
    body: CalibrateJudge,
    idempotent: "one",
    success: { status: 201, schema: CreateRunResponse },
    errors: ["run_state_conflict", "engine_version_mismatch"],
  },
  listCertificates: {
    method: "GET",
    path: CERTIFICATES,
    summary: "What the judge was certified for, newest first, and whether it still holds.",
    access: "runs:read",
    query: CertificateListQuery,
    success: { status: 200, schema: CertificatePage },
  },
  getCertificate: {
    method: "GET",
    path: `${CERTIFICATES}/{certificateId}`,
    summary: "One of them, with all its figures.",
    access: "runs:read",
    success: { status: 200, schema: CertificateView },
  },
});
