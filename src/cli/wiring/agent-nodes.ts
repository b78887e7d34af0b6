import { agentDecisions } from "../../agents/nodes/agent-decisions.ts";
import { agentNode, agentUse, RUN_API_NODE_TYPE } from "../../agents/nodes/agent-node.ts";
import type { AgentDesk } from "../../agents/nodes/ask-agent.ts";
import { identityNode } from "../../agents/nodes/identity-node.ts";
import { mockAgent } from "../../agents/nodes/mock-agent.ts";
import { MockPrograms } from "../../agents/nodes/mock-programs.ts";
import { callPrompt } from "../../agents/nodes/prompt-node.ts";
import { structuredOutput } from "../../agents/nodes/structured-output.ts";
import { planless } from "../../engine/nodes/decision-source.ts";
import { supervisor } from "../../engine/nodes/supervisor.ts";
import type { NodeType } from "../../engine/worker/node-type.ts";
import type { AgentNodeNeeds, AgentServices } from "./agents.ts";

/** The node types that ask agents and models. What is only there for a conformance suite comes with the seams. */
export function askingNodes(host: AgentNodeNeeds, services: AgentServices): NodeType[] {
  const desk = (): AgentDesk => services;
  const { bindings: models, mocks } = services;
  const prompts = () => ({ models, ...(mocks === undefined ? {} : { mocks }) });
  const decisions = agentDecisions(host, desk);
  return [
    agentNode(host, desk),
    identityNode(host, desk, mocks === undefined ? undefined : { secrets: services.namedSecrets }),
    { ...supervisor(decisions, mocks === undefined ? undefined : planless(host)), agent: agentUse(desk, false) },
    callPrompt(host, prompts),
    structuredOutput(host, prompts),
    ...(mocks === undefined ? [] : [mockAgent(host, desk), agentNode(host, desk, RUN_API_NODE_TYPE)]),
  ];
}

/** Staged answers, where somebody watches by the seams. */
export function mocksOf({ conformanceSeams }: { readonly conformanceSeams: boolean }): MockPrograms | undefined {
  return conformanceSeams ? new MockPrograms() : undefined;
}
