import type { ErrorCode } from "../errors.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { CreateRunResponse } from "../runs/api.ts";
import { CalibrateJudge, CertificateListQuery, CertificatePage, CertificateView } from "./judge-certificate-api.ts";

const gate = { capability: "evalSuite", off: "not_found" } as const;
const tag = "evals";
const READS: readonly ErrorCode[] = [...PROTECTED, "not_found"];
const CERTIFICATES = "/v1/host/assay/judge-certificates";

/** How far the judge of this host agrees with people. */
export const JUDGE_OPERATIONS = {
  calibrateJudge: {
    method: "POST",
    path: CERTIFICATES,
    tag,
    summary:
      "Ask the judge about every output of these runs that people judged, in a run of its own whose output names the certificate.",
    access: "suites:write",
    gate,
    body: CalibrateJudge,
    idempotent: "one",
    success: { status: 201, schema: CreateRunResponse },
    errors: [...READS, ...BODY, ...KEYED, "run_state_conflict", "engine_version_mismatch"],
  },
  listCertificates: {
    method: "GET",
    path: CERTIFICATES,
    tag,
    summary: "What the judge was certified for, newest first, and whether it still holds.",
    access: "runs:read",
    gate,
    query: CertificateListQuery,
    success: { status: 200, schema: CertificatePage },
    errors: [...READS, "validation_error"],
  },
  getCertificate: {
    method: "GET",
    path: `${CERTIFICATES}/{certificateId}`,
    tag,
    summary: "One of them, with all its figures.",
    access: "runs:read",
    gate,
    success: { status: 200, schema: CertificateView },
    errors: READS,
  },
} as const satisfies Record<string, Operation>;
