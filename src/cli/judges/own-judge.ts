import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { identityOf } from "../../engine/runs/run-identity.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { endedOf, type JudgeHome } from "./judge-home.ts";

const record = () => undefined;

/** The judge of this process. What it takes is loaded when it is needed: most evaluations never calibrate. */
export function ownJudge(host: Host, services: EvalServices, caller: Caller): JudgeHome {
  const views = () => import("../../evals/calibration/view-certificates.ts");
  return {
    calibrate: async (request) => {
      const { createCalibration } = await import("../../evals/calibration/create-calibration.ts");
      return (await createCalibration(host, services, { caller, request, record })).runId;
    },
    ended: async (runId) => {
      const { status, outputs, error } = await visibleRun(host, caller, runId);
      return endedOf(status, outputs, error);
    },
    certificate: async (id) => (await views()).getCertificate(host, services, caller, id),
    certificates: async (query) => (await views()).listCertificates(host, services, caller, query),
    importTape: async (request) => {
      const { importTape } = await import("../../engine/tapes/import-tape.ts");
      return importTape(host, { caller, request, record });
    },
    storeBody: async (runId, hash, base64) => {
      const { storeBody } = await import("../../engine/tapes/store-body.ts");
      const run = await visibleRun(host, caller, runId);
      await storeBody(host, { caller, run, request: { hash, base64 }, record });
    },
    pushSidecar: async (runId, sidecar) => {
      const { pushSidecar } = await import("../../engine/tapes/push-sidecar.ts");
      const run = identityOf(await visibleRun(host, caller, runId));
      await pushSidecar(host, { caller, run, request: { sidecar }, mayImport: async () => {}, record });
    },
  };
}
