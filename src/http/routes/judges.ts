import { createCalibration } from "../../evals/calibration/create-calibration.ts";
import { getCertificate, listCertificates } from "../../evals/calibration/view-certificates.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import type { CalibrateJudge, CertificateListQuery } from "../../protocol/evals/judge-certificate-api.ts";
import type { JUDGE_OPERATIONS } from "../../protocol/evals/judge-operations.ts";
import type { CreateRunResponse } from "../../protocol/runs/api.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

export function judgeRoutes(evals: EvalServices): Readonly<Record<keyof typeof JUDGE_OPERATIONS, Handler>> {
  return {
    calibrateJudge: async (context) => {
      const request = context.body as CalibrateJudge;
      const command = { caller: callerOf(context), request, record: context.recorder(begun) };
      return begun(await createCalibration(context.host, evals, command));
    },
    listCertificates: async (context) => {
      const query = context.query as CertificateListQuery;
      return { status: 200, json: await listCertificates(context.host, evals, callerOf(context), query) };
    },
    getCertificate: async (context) => {
      const { certificateId = "" } = context.params;
      return { status: 200, json: await getCertificate(context.host, evals, callerOf(context), certificateId) };
    },
  };
}

function begun(json: CreateRunResponse): Reply {
  return { status: 201, json };
}
