import type { Agents } from "../agents/agents.ts";
import { memoryAdapter, redactor } from "../agents/memory/memory-adapter.ts";
import { agentDecisions } from "../agents/nodes/agent-decisions.ts";
import { agentNode, agentUse } from "../agents/nodes/agent-node.ts";
import type { AgentDesk } from "../agents/nodes/ask-agent.ts";
import { type IdentityProbes, identityNode } from "../agents/nodes/identity-node.ts";
import { mockAgent } from "../agents/nodes/mock-agent.ts";
import { MockPrograms } from "../agents/nodes/mock-programs.ts";
import { callPrompt } from "../agents/nodes/prompt-node.ts";
import { structuredOutput } from "../agents/nodes/structured-output.ts";
import type { Host } from "../engine/host.ts";
import { supervisor } from "../engine/nodes/supervisor.ts";
import type { NodeType } from "../engine/worker/node-type.ts";
import type { Capability } from "../protocol/operation.ts";
import type { Store } from "../store/port/store.ts";
import { engineOn } from "./engine.ts";

export interface AgentBench {
  readonly host: Host;
  readonly desk: AgentDesk;
  readonly mocks: MockPrograms;
}

/** An engine whose nodes ask these agents, with memory and the conformance seams. */
export function agentHost(
  store: Store,
  agents: Agents,
  more: Partial<AgentDesk> & { readonly probes?: IdentityProbes } = {},
): AgentBench {
  const { probes = { secrets: [] }, ...given } = more;
  const bare = engineOn(store);
  const { scrubber, nowMs, newId } = bare;
  const memory = memoryAdapter({ store: bare.store, redact: redactor(probes.secrets, scrubber), nowMs, newId });
  const desk: AgentDesk = { agents, memory, ...given };
  const mocks = new MockPrograms();
  const seeing = () => desk;
  const models = { bindingFor: () => agents.bindingFor({} as never, undefined, "t1") };
  const types: NodeType[] = [
    agentNode(bare, seeing),
    identityNode(bare, seeing, probes),
    mockAgent(bare, seeing),
    callPrompt(bare, () => ({ models, mocks })),
    structuredOutput(bare, () => ({ models, mocks })),
    { ...supervisor(agentDecisions(bare, seeing)), agent: agentUse(seeing, false) },
  ];
  const on: Capability[] = ["agents", "orchestrator", "conformanceSeams"];
  const host: Host = {
    ...bare,
    capabilities: new Set([...bare.capabilities, ...on]),
    nodeTypes: new Map([...bare.nodeTypes, ...types.map((type) => [type.typeId, type] as const)]),
  };
  return { host, desk, mocks };
}
