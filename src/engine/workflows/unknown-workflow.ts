import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Host } from "../host.ts";

/** Workflows that a name is compared with; a suggestion is no reason to read more. */
const COMPARED = 1000;

/** The refusal of a workflow that is not registered, with the one that was probably meant. */
export async function unknownWorkflow(
  { store }: Pick<Host, "store">,
  { tenant }: Visibility,
  workflowId: string,
  field = "workflowId",
): Promise<AppError> {
  const known = (await store.listWorkflowHeads(tenant, "", COMPARED)).map((one) => one.workflowId);
  const nearest = closestTo(workflowId, known);
  const meant = nearest === undefined ? "" : ` (did you mean "${nearest}"?)`;
  const problem = `no workflow "${workflowId}" is registered${meant}; GET /v1/workflows lists what there is`;
  return new AppError("validation_error", defined({ problem, field, workflowId, nearest }));
}
