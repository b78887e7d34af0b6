import { KEYED, type Operation, PROTECTED } from "../operation.ts";
import { type Static, Type } from "../schema.ts";

export const DeleteRunResponse = Type.Object(
  {
    runId: Type.String(),
    deletedRuns: Type.Array(Type.String(), { description: "The run and those it dispatched, directly or not." }),
    annotations: Type.Integer({ minimum: 0, description: "How many judgments went with them." }),
  },
  { additionalProperties: false },
);
export type DeleteRunResponse = Static<typeof DeleteRunResponse>;

export const DELETION_OPERATIONS = {
  deleteRun: {
    method: "DELETE",
    path: "/v1/host/assay/runs/{runId}",
    tag: "runs",
    summary: "Remove a run that has ended, with those it dispatched and everything about them, for good.",
    access: "runs:delete",
    idempotent: "one",
    success: { status: 200, schema: DeleteRunResponse },
    errors: [...PROTECTED, ...KEYED, "not_found", "run_state_conflict"],
  },
} as const satisfies Record<string, Operation>;
