import { RECORDED_WORKFLOW_ID } from "../../protocol/tapes/api.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import type { WorkflowWrite } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { registrationOf } from "../workflows/own-workflow.ts";
import { definitionHash } from "../workflows/plans.ts";

/** What runs that came as tapes are of. It cannot be started, so what its node is never matters. */
const DEFINITION: WorkflowDefinition = {
  id: RECORDED_WORKFLOW_ID,
  name: "Recorded elsewhere",
  description: "Runs that were imported as tapes. They can be read and judged.",
  version: "1",
  status: "archived",
  isActive: false,
  nodes: [
    {
      id: "recorded",
      typeId: "core.noop",
      name: "Recorded",
      position: { x: 0, y: 0 },
      config: {},
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

export const RECORDED_WORKFLOW_HASH = definitionHash(DEFINITION);

export function recordedWorkflow(host: Host, tenant: string): Promise<WorkflowWrite[]> {
  return registrationOf(host.store, tenant, DEFINITION, RECORDED_WORKFLOW_HASH, host.nowMs());
}
