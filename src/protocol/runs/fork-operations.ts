import type { ErrorCode } from "../errors.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { Type } from "../schema.ts";
import { ForkRunFurtherRequest, ForkRunRequest, ForkRunResponse, RunDiffResponse } from "./fork-api.ts";

const FORK_ERRORS: readonly ErrorCode[] = [
  ...PROTECTED,
  ...KEYED,
  ...BODY,
  "not_found",
  "engine_version_mismatch",
  "mock_provider_forbidden",
  "fork_point_invalid",
  "run_too_large",
  "fork_source_expired",
  "run_read_only",
  "tenant_run_limit",
];

/** Runs that begin with the history of another, and how two runs differ. */
export const FORK_OPERATIONS = {
  forkRun: {
    method: "POST",
    path: "/v1/runs/{runId}:fork",
    tag: "forks",
    summary: "Replay a run from its record, or branch off from it with other options.",
    access: "runs:create",
    alsoNeeds: "runs:read",
    gate: { capability: "replay", off: "not_found" },
    looksUpRun: false,
    body: ForkRunRequest,
    idempotent: "one",
    success: { status: 201, schema: ForkRunResponse },
    errors: FORK_ERRORS,
  },
  forkRunBecause: {
    method: "POST",
    path: "/v1/host/assay/runs/{runId}:fork",
    tag: "forks",
    summary: "The same, with the annotation that is the reason of the fork.",
    access: "runs:create",
    alsoNeeds: "runs:read",
    gate: { capability: "replay", off: "not_found" },
    looksUpRun: false,
    body: ForkRunFurtherRequest,
    idempotent: "one",
    success: { status: 201, schema: ForkRunResponse },
    errors: FORK_ERRORS,
  },
  diffRuns: {
    method: "GET",
    path: "/v1/runs/{runId}:diff",
    tag: "forks",
    summary: "How the logs and states of two runs differ.",
    access: "runs:read",
    gate: { capability: "diff", off: "not_found" },
    looksUpRun: "identity",
    query: Type.Object(
      { against: Type.String({ minLength: 1, maxLength: 128, description: "the other run" }) },
      { additionalProperties: false },
    ),
    success: { status: 200, schema: RunDiffResponse },
    errors: [...PROTECTED, "not_found", "engine_version_mismatch", "validation_error"],
  },
} as const satisfies Record<string, Operation>;
