import type { ErrorCode } from "../errors.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { AddedTask, AddFromRequest, TaskLinkPage, TaskLinkQuery } from "./suite-growth.ts";

const gate = { capability: "evalSuite", off: "not_found" } as const;
const tag = "evals";
const READS: readonly ErrorCode[] = [...PROTECTED, "not_found", "validation_error"];

/** From what people correct to what an agent is evaluated with. */
export const SUITE_GROWTH_OPERATIONS = {
  addTaskFromRun: {
    method: "POST",
    path: "/v1/host/assay/suites:add-from",
    tag,
    summary:
      "Make a task of a run that a person corrected, show that it fails on the recorded answer and passes on the correction, and put it into the next version of a suite. Needs `runs:read` as well and, of an evaluation, `artifacts:read`.",
    access: "suites:write",
    gate,
    body: AddFromRequest,
    takesTape: true,
    idempotent: "one",
    success: { status: 201, schema: AddedTask },
    otherwise: { status: 200, schema: AddedTask, summary: "It was only checked, and nothing was written." },
    errors: [...READS, ...KEYED, ...BODY, "engine_version_mismatch", "run_state_conflict", "document_conflict"],
  },
  listTaskLinks: {
    method: "GET",
    path: "/v1/host/assay/suite-links",
    tag,
    summary: "Which tasks were made of a run, or of which runs the tasks of a suite were made.",
    access: "runs:read",
    gate,
    query: TaskLinkQuery,
    success: { status: 200, schema: TaskLinkPage },
    errors: READS,
  },
} as const satisfies Record<string, Operation>;
