import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import type { Store, WorkflowWrite } from "../../store/port/store.ts";

interface OwnWorkflow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly nodeId: string;
  readonly typeId: string;
}

/** A workflow of one node that only the host starts; its input `plan` is the task of the node. */
export function oneNodeWorkflow({ id, name, description, nodeId, typeId }: OwnWorkflow): WorkflowDefinition {
  return {
    id,
    name,
    description,
    version: "1",
    status: "archived",
    isActive: false,
    nodes: [{ id: nodeId, typeId, name, position: { x: 0, y: 0 }, config: {}, inputs: {} }],
    edges: [],
    triggers: [],
    variables: [{ name: "plan", type: "object", required: true }],
    metadata: {},
    settings: {},
  };
}

/** The writes that register a definition of the host for a tenant that does not have it yet. */
export async function registrationOf(
  store: Pick<Store, "readWorkflow">,
  tenant: string,
  definition: WorkflowDefinition,
  hash: string,
  atMs: number,
): Promise<WorkflowWrite[]> {
  const workflowId = definition.id;
  const current = await store.readWorkflow(tenant, workflowId);
  if (current?.hash === hash) return [];
  return [{ tenant, workflowId, hash, definition: JSON.stringify(definition), atMs }];
}
