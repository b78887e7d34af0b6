import { expect } from "vitest";
import { certificateDocument, certificateOf } from "../evals/calibration/certificate.ts";
import type { CertificateRecord } from "../protocol/evals/judge-certificate-api.ts";
import { calibrationReport } from "../statistics/calibration.ts";
import type { Store } from "../store/port/store.ts";
import { sha256 } from "./builders.ts";
import { judgedTask } from "./calibration-bench.ts";
import { suiteOf } from "./eval-bench.ts";
import type { TestHost } from "./host.ts";

/** A certificate of some judge, as if it had been calibrated at this moment: on 60 outputs, half of which pass, all alike. */
export async function keptCertificate(
  store: Store,
  changes: Partial<CertificateRecord> = {},
  owner: { readonly tenant: string; readonly workspace?: string } = { tenant: "t1" },
): Promise<CertificateRecord> {
  const items = Array.from({ length: 60 }, (_, i) => {
    const gold = i % 2 === 0 ? "pass" : "fail";
    return { itemId: `item-${i}`, gold, judge: gold };
  });
  const judge = { promptSha256: sha256("prompt"), model: "local/some", rubric: [] };
  const record: CertificateRecord = {
    certificateId: "cert-01k2v6w0d9q3c5x7m8n4p2r1st",
    suiteId: "acme.support.evals.tone",
    suiteVersion: "1.0.0",
    runIds: ["run-01k2v6w0d9q3c5x7m8n4p2r1st"],
    issuedBy: "ada",
    gold: { outputs: 60, disputed: 0, unjudged: 0, leftOut: [], rubrics: { suite: 1, judged: 1 } },
    certificate: certificateOf(calibrationReport(items, { seed: 1 }), judge, items, { now: new Date().toISOString() }),
    ...changes,
  };
  const document = certificateDocument(owner, record, Date.now());
  await store.commit({ tenant: owner.tenant, documents: [{ type: "put", document }] });
  return record;
}

/** A suite with a rubric, and a tape with a step that somebody found right: what a judge can be calibrated with. */
export async function goldTape(host: TestHost): Promise<{ suite: string; runIds: string[] }> {
  const suite = suiteOf([judgedTask("polite", "x")], { suiteId: "acme.support.evals.tone", modes: ["rubric"] });
  const ref = `${suite.suiteId}@${suite.version}`;
  await host.ask("PUT", `/v1/host/assay/suites/${ref}`, { json: suite });
  const hash = "0".repeat(64);
  const kind = { kind: "llm_call", request_digest: hash, response: { content_hash: hash, text: "please" } };
  const tape = [
    { type: "header", version: 1, harn_version: "1.0" },
    { type: "record", seq: 1, virtual_time_ms: 1, monotonic_ms: 1, kind },
  ].map((one) => `${JSON.stringify(one)}\n`);
  const { runId } = (await host.ask("POST", "/v1/host/assay/tapes", { json: { tape: tape.join("") } })).json();
  const rows = [
    { type: "header", schema_version: 1 },
    { type: "annotation", id: "a", event_id: 1, kind: "correct" },
  ].map((one) => `${JSON.stringify(one)}\n`);
  const sidecar = { json: { sidecar: rows.join("") } };
  const pushed = await host.ask("POST", `/v1/host/assay/tapes/${runId}/sidecar`, sidecar);
  expect(pushed.statusCode, pushed.payload).toBe(200);
  return { suite: ref, runIds: [runId] };
}
