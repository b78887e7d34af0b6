import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { type Static, Type } from "../schema.ts";

const closed = { additionalProperties: false };

export const CancelRunsRequest = Type.Object(
  {
    runId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    workflowId: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    reason: Type.Optional(Type.String({ maxLength: 512 })),
  },
  { ...closed, description: "Exactly one of runId, a run without a parent, and workflowId." },
);
export type CancelRunsRequest = Static<typeof CancelRunsRequest>;

export const CancelRunsResponse = Type.Object(
  {
    cancelled: Type.Integer({ minimum: 0, description: "Runs that this request cancelled." }),
    failed: Type.Integer({ minimum: 0, description: "Runs that could not be cancelled now." }),
    more: Type.Boolean({ description: "Whether runs are left: send the request again." }),
  },
  closed,
);
export type CancelRunsResponse = Static<typeof CancelRunsResponse>;

export const CANCEL_OPERATIONS = {
  cancelRuns: {
    method: "POST",
    path: "/v1/host/assay/runs:cancel",
    tag: "runs",
    summary:
      "Cancel a run with all runs below it, detached ones too, or all runs of a workflow; up to 5,000 a request.",
    access: "runs:cancel",
    body: CancelRunsRequest,
    idempotent: "many",
    success: { status: 200, schema: CancelRunsResponse },
    errors: [...PROTECTED, ...KEYED, ...BODY, "not_found"],
  },
} as const satisfies Record<string, Operation>;
