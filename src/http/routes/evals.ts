import type { Authorizer } from "../../engine/identity/roles.ts";
import { annotationView } from "../../engine/judgments/annotation-view.ts";
import { createCalibration } from "../../evals/calibration/create-calibration.ts";
import { getCertificate, listCertificates } from "../../evals/calibration/view-certificates.ts";
import { judgeTask } from "../../evals/override/judge-task.ts";
import { keepBaselineFile } from "../../evals/run/baseline.ts";
import { evalReport, evalSummary } from "../../evals/run/eval-report.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
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
import { EVAL_OPERATIONS } from "../../protocol/evals/operations.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { type HandlersOf, recordedReply } from "../pipeline/handler.ts";
import { created, NO_CONTENT, ok, type Reply } from "../pipeline/reply.ts";

export function evalRoutes(
  authorizer: Pick<Authorizer, "authorize">,
  services: EvalServices,
): HandlersOf<typeof EVAL_OPERATIONS> {
  return {
    getEvalSummary: async ({ host, caller, params }) => ok(await evalSummary(host, caller, params.runId)),
    listEvals: async ({ host, caller, query }) => ok(await listEvals(host, caller, query)),
    getEval: async ({ host, caller, params }) => ok(await getEval(host, caller, params.runId)),
    // Figures are for readers of runs; texts take the scope that reads bodies.
    getEvalReport: async ({ host, caller, params, query }) => {
      const content = query.content === "true";
      if (content) await authorizer.authorize(caller, EVAL_OPERATIONS.getEvalTaskBodies.access);
      return ok(await evalReport(host, caller, params.runId, { content }));
    },
    getEvalTaskBodies: async ({ host, caller, params }) =>
      ok(await evalTaskBodies(host, caller, params.runId, params.taskId)),
    judgeEvalTask: (context) =>
      recordedReply(context, judged, async (record) => {
        const { host, caller, params, body: request } = context;
        if (!host.capabilities.has("feedback")) {
          throw new AppError("capability_not_provided", { capability: "feedback" });
        }
        return judgeTask(host, { caller, ...params, request, record });
      }),
    listBaselines: async ({ host, caller, query }) => ok(await listBaselines(host, caller, query)),
    getBaseline: async ({ host, caller, params }) => ok(await getBaseline(host, caller, baselineIn(params))),
    exportBaseline: async ({ host, caller, params }) => ok(await exportBaseline(host, caller, baselineIn(params))),
    keepBaselineFile: async ({ host, caller, params: { sha256: fileSha256 }, body }) => {
      await keepBaselineFile(host, caller, fileSha256, body);
      return ok({ fileSha256 });
    },
    setBaseline: async ({ host, caller, params, body }) =>
      ok(await setBaseline(host, caller, baselineIn(params), body)),
    removeBaseline: async ({ host, caller, params }) => {
      await removeBaseline(host, caller, baselineIn(params));
      return NO_CONTENT;
    },
    calibrateJudge: (context) =>
      recordedReply(context, created, (record) => {
        return createCalibration(context.host, services, { caller: context.caller, request: context.body, record });
      }),
    listCertificates: async ({ host, caller, query }) => ok(await listCertificates(host, services, caller, query)),
    getCertificate: async ({ host, caller, params }) =>
      ok(await getCertificate(host, services, caller, params.certificateId)),
  };
}

function judged(record: AnnotationRecord): Reply {
  return created(annotationView(record));
}

function baselineIn({ suiteId, baseline: name }: { readonly suiteId: string; readonly baseline: string }) {
  return { suiteId, name };
}
