import { makePlan, type Plan } from "../../engine/workflows/decide/plan.ts";
import { oneNodeWorkflow, registrationOf } from "../../engine/workflows/own-workflow.ts";
import { definitionHash } from "../../engine/workflows/plans.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import type { Store, WorkflowWrite } from "../../store/port/store.ts";

export const EVAL_NODE_TYPE = "assay.eval";

/** The workflow of evaluation runs. */
const DEFINITION = oneNodeWorkflow({
  id: EVAL_WORKFLOW_ID,
  name: "Evaluation",
  description: "Runs of mode eval.",
  nodeId: "eval",
  typeId: EVAL_NODE_TYPE,
});

export const EVAL_PLAN: Plan = makePlan(definitionHash(DEFINITION), DEFINITION);

export function evalWorkflow(store: Store, tenant: string, atMs: number): Promise<WorkflowWrite[]> {
  return registrationOf(store, tenant, DEFINITION, EVAL_PLAN.hash, atMs);
}
