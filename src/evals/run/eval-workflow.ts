import { makePlan, type Plan } from "../../engine/decide/plan.ts";
import { definitionHash } from "../../engine/plans.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/eval-api.ts";
import type { WorkflowDefinition } from "../../protocol/workflow.ts";
import type { Store, WorkflowWrite } from "../../store/store.ts";

export const EVAL_NODE_TYPE = "assay.eval";

/** What evaluations are runs of. Only the host starts them. */
const DEFINITION: WorkflowDefinition = {
  id: EVAL_WORKFLOW_ID,
  name: "Evaluation",
  description: "Runs of mode eval.",
  version: "1",
  status: "archived",
  isActive: false,
  nodes: [
    {
      id: "eval",
      typeId: EVAL_NODE_TYPE,
      name: "Evaluation",
      position: { x: 0, y: 0 },
      config: {},
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [{ name: "plan", type: "object", required: true }],
  metadata: {},
  settings: {},
};

const HASH = definitionHash(DEFINITION);

export const EVAL_PLAN: Plan = makePlan(HASH, DEFINITION);

/** What registers it for a tenant that does not have it yet. */
export async function evalWorkflow(store: Store, tenant: string, atMs: number): Promise<WorkflowWrite[]> {
  const standing = await store.readWorkflow(tenant, EVAL_WORKFLOW_ID);
  if (standing?.hash === HASH) return [];
  return [{ tenant, workflowId: EVAL_WORKFLOW_ID, hash: HASH, definition: JSON.stringify(DEFINITION), atMs }];
}
