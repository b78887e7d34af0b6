import { AppError, validationError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { SUPERVISOR } from "../../protocol/runs/orchestrator.ts";
import type { AgentRef, WorkflowDefinition, WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { AgentUse, NodeType, NodeTypes } from "../worker/node-type.ts";

type Lacks = (capability: string) => never;

/** Checks the agent of a node as far as the definition shows. */
export function checkAgentRef(type: NodeType, node: WorkflowNode, lacks: Lacks): void {
  const { id, config, typeId } = node;
  const agent = agentNamedBy(node);
  const refuse = (problem: string): never => {
    throw validationError(`node "${id}" ${problem}`);
  };
  if (agent === undefined) {
    if (type.agent?.required) refuse(`(${typeId}) must name an agent`);
    return;
  }
  if (agent.version !== undefined && agent.channel !== undefined) {
    refuse("names a version and a channel of its agent; give one of them");
  }
  if (type.onlyNamesAgent?.(config) === true && agent.channel === undefined) return;
  if (agent.channel !== undefined && type.agent?.channels !== true) {
    refuse("names an agent channel; this host does not serve agents.deployment");
  }
  if (type.agent === undefined) lacks("agents.manifestRuntime.supported");
}

/** Throws where an agent of the workflow cannot be called from this place. */
export async function checkAgents(
  nodeTypes: NodeTypes,
  visible: Visibility,
  definition: Pick<WorkflowDefinition, "nodes">,
  asked: "registered" | "started",
): Promise<void> {
  for (const node of definition.nodes) {
    const use = useOf(nodeTypes, node);
    const agent = agentNamedBy(node);
    if (use === undefined || agent === undefined) continue;
    const refusal = await use.refusal(visible, agent);
    // A workflow may be registered before its agent is deployed.
    if (refusal === undefined || (refusal.code === "no_active_deployment" && asked === "registered")) continue;
    if (refusal.code === "no_active_deployment") {
      const { agentId, channel } = agent;
      const problem = refusal.message;
      throw new AppError("no_active_deployment", { problem, agentId, ...(channel && { channel }), nodeId: node.id });
    }
    throw validationError(`node "${node.id}": ${refusal.message}`, { nodeId: node.id });
  }
}

function useOf(nodeTypes: NodeTypes, { typeId, config }: WorkflowNode): AgentUse | undefined {
  const type = nodeTypes.get(typeId);
  return type?.onlyNamesAgent?.(config) === true ? undefined : type?.agent;
}

/** The agent of a node. A supervisor may name its agent in its config too. */
export function agentNamedBy({ agent, typeId, config }: WorkflowNode): AgentRef | undefined {
  const agentId = typeId === SUPERVISOR ? config["agentId"] : undefined;
  return agent ?? (typeof agentId === "string" ? { agentId } : undefined);
}
