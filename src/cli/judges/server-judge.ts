import type { Client } from "../client/client.ts";
import { endedOf, type JudgeHome } from "./judge-home.ts";

/** The judge of a server. */
export function serverJudge({ judges, runs, tapes }: Client): JudgeHome {
  return {
    calibrate: async (request) => (await judges.calibrate(request)).runId,
    ended: async (runId) => {
      const { status, outputs, error } = await runs.get(runId);
      return endedOf(status, outputs, error);
    },
    certificate: async (id) => judges.certificate(id),
    certificates: async (query) => judges.certificates(query),
    importTape: async (request) => tapes.import(request),
    storeBody: async (runId, hash, base64) => void (await tapes.storeBody(runId, { hash, base64 })),
    pushSidecar: async (runId, sidecar) => void (await tapes.pushSidecar(runId, { sidecar })),
  };
}
