import { operations } from "../operation.ts";
import { AgentEvalSuite } from "./eval-suite.ts";
import {
  AddedTask,
  AddFromRequest,
  PutSuiteResponse,
  SuiteListQuery,
  SuitePage,
  TaskLinkPage,
  TaskLinkQuery,
} from "./suite-api.ts";

const SUITES = "/v1/host/assay/suites";

const common = { tag: "evals", capability: "evalSuite" } as const;

/** Suites that agents are evaluated with. A suite under an id and a version never changes. */
export const SUITE_OPERATIONS = operations(common, {
  listSuites: {
    method: "GET",
    path: SUITES,
    summary: "The suites this key can evaluate with, by id and version; those of the tenant before those of the host.",
    access: "manifest:read",
    query: SuiteListQuery,
    success: { status: 200, schema: SuitePage },
  },
  putSuite: {
    method: "PUT",
    path: `${SUITES}/{suiteRef}`,
    summary: "Keep a suite under its `id@version`, for good. A refusal lists every problem with line and column.",
    access: "suites:write",
    body: AgentEvalSuite,
    takesTape: true,
    takesText: true,
    success: { status: 201, schema: PutSuiteResponse },
    otherwise: { status: 200, schema: PutSuiteResponse, summary: "The same suite was here already." },
    errors: ["suite_conflict"],
  },
  getSuite: {
    method: "GET",
    path: `${SUITES}/{suiteRef}`,
    summary: "A suite, exactly as it was written. Without `@version`, the highest version there is.",
    access: "manifest:read",
    success: { status: 200, schema: AgentEvalSuite },
    errors: ["validation_error"],
  },
  addTaskFromRun: {
    method: "POST",
    path: "/v1/host/assay/suites:add-from",
    summary:
      "Make a task of a run that a person corrected, show that it fails on the recorded answer and passes on the correction, and put it into the next version of a suite. Needs `runs:read` as well and, of an evaluation, `artifacts:read`.",
    access: "suites:write",
    body: AddFromRequest,
    takesTape: true,
    idempotent: "one",
    success: { status: 201, schema: AddedTask },
    otherwise: { status: 200, schema: AddedTask, summary: "It was only checked, and nothing was written." },
    errors: ["engine_version_mismatch", "run_state_conflict", "document_conflict"],
  },
  listTaskLinks: {
    method: "GET",
    path: "/v1/host/assay/suite-links",
    summary: "Which tasks were made of a run, or of which runs the tasks of a suite were made.",
    access: "runs:read",
    query: TaskLinkQuery,
    success: { status: 200, schema: TaskLinkPage },
  },
});
