import { randomUUID } from "node:crypto";
import type { CreateRunResponse } from "../../protocol/runs/api.ts";
import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import type { Client } from "../client/client.ts";
import { endedOf, type JudgeHome } from "./judge-home.ts";

const CERTIFICATES = "/v1/host/assay/judge-certificates";
const TAPES = "/v1/host/assay/tapes";

/** The judge of a server. */
export function serverJudge(client: Client): JudgeHome {
  const tape = (runId: string) => `${TAPES}/${encodeURIComponent(runId)}`;
  return {
    calibrate: async (body) => {
      // Should the answer be lost on its way, nothing is started twice.
      const headers = { "idempotency-key": randomUUID() };
      return (await client.json<CreateRunResponse>(CERTIFICATES, { method: "POST", body, headers })).runId;
    },
    ended: async (runId) => {
      const run = await client.json<RunSnapshot & { readonly outputs?: unknown }>(
        `/v1/runs/${encodeURIComponent(runId)}`,
      );
      return endedOf(run.status, run.outputs, run.error);
    },
    certificate: (id) => client.json(`${CERTIFICATES}/${encodeURIComponent(id)}`),
    certificates: (query) => client.json(CERTIFICATES, { query }),
    importTape: (body) => client.json(TAPES, { method: "POST", body }),
    storeBody: async (runId, hash, base64) => {
      await client.json(`${tape(runId)}/bodies`, { method: "POST", body: { hash, base64 } });
    },
    pushSidecar: async (runId, sidecar) => {
      await client.json(`${tape(runId)}/sidecar`, { method: "POST", body: { sidecar } });
    },
  };
}
