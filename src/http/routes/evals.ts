import type { Authorizer } from "../../engine/identity/roles.ts";
import { annotationView } from "../../engine/judgments/annotation-view.ts";
import { judgeTask } from "../../evals/override/judge-task.ts";
import { keepBaselineFile } from "../../evals/run/baseline.ts";
import { evalReport, evalSummary } from "../../evals/run/eval-report.ts";
import {
  exportBaseline,
  getBaseline,
  listBaselines,
  removeBaseline,
  setBaseline,
} from "../../evals/run/named-baselines.ts";
import { getEval, listEvals } from "../../evals/run/read-evals.ts";
import { evalTaskBodies } from "../../evals/run/task-bodies.ts";
import { AppError } from "../../protocol/errors.ts";
import type {
  BaselineListQuery,
  EvalListQuery,
  EvalReportQuery,
  SetBaselineRequest,
} from "../../protocol/evals/eval-baseline.ts";
import type { JudgeTaskRequest } from "../../protocol/evals/eval-override.ts";
import { EVAL_OPERATIONS } from "../../protocol/evals/operations.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";

const getEvalSummaryRoute: Handler = async (context) => {
  const { runId = "" } = context.params;
  return { status: 200, json: await evalSummary(context.host, callerOf(context), runId) };
};

const listEvalsRoute: Handler = async (context) => ({
  status: 200,
  json: await listEvals(context.host, callerOf(context), context.query as EvalListQuery),
});

const getEvalRoute: Handler = async (context) => {
  const { runId = "" } = context.params;
  return { status: 200, json: await getEval(context.host, callerOf(context), runId) };
};

/** Figures for readers of runs; what was said in it only for those who may read bodies. */
function getEvalReportRoute(authorizer: Pick<Authorizer, "authorize">): Handler {
  return async (context) => {
    const { runId = "" } = context.params;
    const content = (context.query as EvalReportQuery).content === "true";
    if (content) await authorizer.authorize(callerOf(context), EVAL_OPERATIONS.getEvalTaskBodies.access);
    return { status: 200, json: await evalReport(context.host, callerOf(context), runId, { content }) };
  };
}

const getEvalTaskBodiesRoute: Handler = async (context) => {
  const { runId = "", taskId = "" } = context.params;
  return { status: 200, json: await evalTaskBodies(context.host, callerOf(context), runId, taskId) };
};

const judgeEvalTaskRoute: Handler = async (context) => {
  const { host, params, body } = context;
  if (!host.capabilities.has("feedback")) throw new AppError("capability_not_provided", { capability: "feedback" });
  const { runId = "", taskId = "" } = params;
  const reply = (record: AnnotationRecord): Reply => ({ status: 201, json: annotationView(record) });
  const request = body as JudgeTaskRequest;
  const record = context.recorder(reply);
  return reply(await judgeTask(host, { caller: callerOf(context), runId, taskId, request, record }));
};

const listBaselinesRoute: Handler = async (context) => ({
  status: 200,
  json: await listBaselines(context.host, callerOf(context), context.query as BaselineListQuery),
});

const getBaselineRoute: Handler = async (context) => ({
  status: 200,
  json: await getBaseline(context.host, callerOf(context), baselineIn(context)),
});

const setBaselineRoute: Handler = async (context) => {
  const named = context.body as SetBaselineRequest;
  return { status: 200, json: await setBaseline(context.host, callerOf(context), baselineIn(context), named) };
};

const exportBaselineRoute: Handler = async (context) => ({
  status: 200,
  json: await exportBaseline(context.host, callerOf(context), baselineIn(context)),
});

const keepBaselineFileRoute: Handler = async (context) => {
  const { sha256: fileSha256 = "" } = context.params;
  await keepBaselineFile(context.host, callerOf(context), fileSha256, context.body);
  return { status: 200, json: { fileSha256 } };
};

const removeBaselineRoute: Handler = async (context) => {
  await removeBaseline(context.host, callerOf(context), baselineIn(context));
  return { status: 204, raw: null };
};

function baselineIn({ params }: RequestContext) {
  const { suiteId = "", baseline: name = "" } = params;
  return { suiteId, name };
}

export function evalRoutes(
  authorizer: Pick<Authorizer, "authorize">,
): Readonly<Record<keyof typeof EVAL_OPERATIONS, Handler>> {
  return { ...ROUTES, getEvalReport: getEvalReportRoute(authorizer) };
}

const ROUTES = {
  getEvalSummary: getEvalSummaryRoute,
  listEvals: listEvalsRoute,
  getEval: getEvalRoute,
  getEvalTaskBodies: getEvalTaskBodiesRoute,
  judgeEvalTask: judgeEvalTaskRoute,
  listBaselines: listBaselinesRoute,
  getBaseline: getBaselineRoute,
  exportBaseline: exportBaselineRoute,
  keepBaselineFile: keepBaselineFileRoute,
  setBaseline: setBaselineRoute,
  removeBaseline: removeBaselineRoute,
};
