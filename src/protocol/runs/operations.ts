import type { ErrorCode } from "../errors.ts";
import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { Cursor, closed, Limit, Type } from "../schema.ts";
import {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRunRequest,
  CancelRunResponse,
  CreateRunRequest,
  CreateRunResponse,
  ListRunsResponse,
  PauseRunRequest,
  PauseRunResponse,
  ResumeRunRequest,
  ResumeRunResponse,
} from "./api.ts";
import { RunStatusSchema } from "./run-status.ts";
import { RunSnapshot } from "./snapshot.ts";

const Instant = (description: string) => Type.String({ minLength: 20, maxLength: 40, description });

const OF_RUN: readonly ErrorCode[] = ["not_found", "engine_version_mismatch"];
const CHANGES_RUN: readonly ErrorCode[] = [...KEYED, ...BODY, ...OF_RUN, "run_version_conflict"];

/** Starting, reading and stopping runs. */
export const RUN_OPERATIONS = {
  createRun: {
    method: "POST",
    path: "/v1/runs",
    tag: "runs",
    summary: "Start a run. It is durable before the answer; execution follows.",
    access: "runs:create",
    body: CreateRunRequest,
    idempotent: "one",
    success: { status: 201, schema: CreateRunResponse },
    errors: [
      ...PROTECTED,
      ...KEYED,
      ...BODY,
      "tenant_mismatch",
      "webhook_url_rejected",
      "mock_provider_forbidden",
      "unsupported_mock_provider",
      "no_active_deployment",
      "force_engine_version_forbidden",
      "run_already_active",
      "tenant_run_limit",
      "capability_required",
      "capability_not_provided",
      "not_found",
      "judge_not_certified",
    ],
  },
  listRuns: {
    method: "GET",
    path: "/v1/runs",
    tag: "runs",
    summary: "The caller's runs, newest first.",
    access: "runs:read",
    query: Type.Object(
      {
        limit: Limit,
        cursor: Cursor,
        workflowId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
        status: Type.Optional(RunStatusSchema),
        agentId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 256,
            description: "named by the run's metadata, or called by the host",
          }),
        ),
        tag: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
        from: Type.Optional(Instant("an instant; runs created then or later")),
        to: Type.Optional(Instant("an instant; runs created before")),
      },
      closed,
    ),
    success: { status: 200, schema: ListRunsResponse },
    errors: [...PROTECTED, "validation_error"],
  },
  bulkCancelRuns: {
    method: "POST",
    path: "/v1/runs:bulk-cancel",
    tag: "runs",
    summary: "Cancel up to 100 runs; one result per id, in order.",
    access: "runs:cancel",
    body: BulkCancelRequest,
    idempotent: "many",
    success: { status: 200, schema: BulkCancelResponse },
    errors: [...PROTECTED, ...KEYED, ...BODY],
  },
  getRun: {
    method: "GET",
    path: "/v1/runs/{runId}",
    tag: "runs",
    summary: "A run as it is now. Carries an ETag; If-None-Match gives 304.",
    access: "runs:read",
    success: { status: 200, schema: RunSnapshot },
    errors: [...PROTECTED, ...OF_RUN],
  },
  cancelRun: {
    method: "POST",
    path: "/v1/runs/{runId}/cancel",
    tag: "runs",
    summary: "Cancel a run. On a run that has ended it changes nothing and answers with what is.",
    access: "runs:cancel",
    body: CancelRunRequest,
    idempotent: "one",
    success: { status: 200, schema: CancelRunResponse },
    errors: [...PROTECTED, ...CHANGES_RUN],
  },
  pauseRun: {
    method: "POST",
    path: "/v1/runs/{runId}:pause",
    tag: "runs",
    summary: "Stop a run between nodes, after the current node or at once.",
    access: "runs:cancel",
    gate: { capability: "pauseResume", off: "not_found" },
    body: PauseRunRequest,
    idempotent: "one",
    success: { status: 202, schema: PauseRunResponse },
    errors: [...PROTECTED, ...CHANGES_RUN, "run_terminal", "run_state_conflict"],
  },
  resumeRun: {
    method: "POST",
    path: "/v1/runs/{runId}:resume",
    tag: "runs",
    summary: "Resume a paused run.",
    access: "runs:cancel",
    gate: { capability: "pauseResume", off: "not_found" },
    body: ResumeRunRequest,
    idempotent: "one",
    success: { status: 202, schema: ResumeRunResponse },
    errors: [...PROTECTED, ...CHANGES_RUN, "run_terminal", "run_state_conflict"],
  },
} as const satisfies Record<string, Operation>;
