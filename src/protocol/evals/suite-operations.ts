import type { ErrorCode } from "../errors.ts";
import { BODY, type Operation, PROTECTED } from "../operation.ts";
import { AgentEvalSuite } from "./eval-suite.ts";
import { PutSuiteResponse, SuiteListQuery, SuitePage } from "./suite-api.ts";

const gate = { capability: "evalSuite", off: "not_found" } as const;
const tag = "evals";
const READS: readonly ErrorCode[] = [...PROTECTED, "not_found", "validation_error"];
const SUITES = "/v1/host/assay/suites";

/** Suites that agents are evaluated with. One that is here under an id and a version never changes. */
export const SUITE_OPERATIONS = {
  listSuites: {
    method: "GET",
    path: SUITES,
    tag,
    summary: "The suites this key can evaluate with, by id and version; those of the tenant before those of the host.",
    access: "manifest:read",
    gate,
    query: SuiteListQuery,
    success: { status: 200, schema: SuitePage },
    errors: READS,
  },
  putSuite: {
    method: "PUT",
    path: `${SUITES}/{suiteRef}`,
    tag,
    summary: "Keep a suite under its `id@version`, for good. A refusal lists every problem with line and column.",
    access: "suites:write",
    gate,
    body: AgentEvalSuite,
    takesTape: true,
    takesText: true,
    success: { status: 201, schema: PutSuiteResponse },
    otherwise: { status: 200, schema: PutSuiteResponse, summary: "The same suite was here already." },
    errors: [...READS, ...BODY, "suite_conflict"],
  },
  getSuite: {
    method: "GET",
    path: `${SUITES}/{suiteRef}`,
    tag,
    summary: "A suite, exactly as it was written. Without `@version`, the highest version there is.",
    access: "manifest:read",
    gate,
    success: { status: 200, schema: AgentEvalSuite },
    errors: READS,
  },
} as const satisfies Record<string, Operation>;
