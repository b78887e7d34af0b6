import { SUPERVISOR } from "../../protocol/runs/orchestrator.ts";
import type { AgentRef, WorkflowNode } from "../../protocol/workflows/workflow.ts";

/** The agent that a node is about. A supervisor may name its own in its config, where no more than the name is to be said. */
export function agentNamedBy({ agent, typeId, config }: WorkflowNode): AgentRef | undefined {
  const agentId = typeId === SUPERVISOR ? config["agentId"] : undefined;
  return agent ?? (typeof agentId === "string" ? { agentId } : undefined);
}
