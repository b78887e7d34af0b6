import type { WorkflowDefinition } from "../../src/protocol/workflows/workflow.ts";
import { workflow } from "../../src/testing/workflow.ts";

/** A workflow of one approval gate. */
export function gateWorkflow(id: string, config: Readonly<Record<string, unknown>> = {}): WorkflowDefinition {
  return workflow({ id, nodes: { gate: { typeId: "core.approvalGate", config } } });
}
