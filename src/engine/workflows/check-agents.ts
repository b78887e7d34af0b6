import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { WorkflowDefinition, WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { AgentUse, NodeType, NodeTypes } from "../worker/node-type.ts";
import { agentNamedBy } from "./named-agent.ts";

type Lacks = (capability: string) => never;

/** What the workflow alone tells of a node's agent. */
export function checkAgentRef(type: NodeType, node: WorkflowNode, lacks: Lacks): void {
  const { id, config, typeId } = node;
  const agent = agentNamedBy(node);
  const refuse = (problem: string): never => {
    throw new AppError("validation_error", { problem: `node "${id}" ${problem}` });
  };
  if (agent === undefined) {
    if (type.agent?.required) refuse(`(${typeId}) asks an agent and names none`);
    return;
  }
  if (agent.version !== undefined && agent.channel !== undefined) {
    refuse("names a version and a channel of its agent; one of them says which is meant");
  }
  if (type.onlyNamesAgent?.(config) === true && agent.channel === undefined) return;
  if (agent.channel !== undefined && type.agent?.channels !== true) {
    refuse("names an agent channel; this host does not serve agents.deployment");
  }
  if (type.agent === undefined) lacks("agents.manifestRuntime.supported");
}

/** Whether the agents a workflow asks are there for whoever is about to use it. */
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
    // Deployments come and go; only a run needs one now.
    if (refusal === undefined || (refusal.code === "no_active_deployment" && asked === "registered")) continue;
    if (refusal.code === "no_active_deployment") {
      const { agentId, channel } = agent;
      const problem = refusal.message;
      throw new AppError("no_active_deployment", { problem, agentId, ...(channel && { channel }), nodeId: node.id });
    }
    throw new AppError("validation_error", { problem: `node "${node.id}": ${refusal.message}`, nodeId: node.id });
  }
}

function useOf(nodeTypes: NodeTypes, { typeId, config }: WorkflowNode): AgentUse | undefined {
  const type = nodeTypes.get(typeId);
  return type?.onlyNamesAgent?.(config) === true ? undefined : type?.agent;
}
