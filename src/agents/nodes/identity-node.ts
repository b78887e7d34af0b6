import { identity } from "../../engine/nodes/identity.ts";
import type { EffectContext, EffectNodeType, NodeOutcome, PureNodeType } from "../../engine/worker/node-type.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { AgentRef } from "../../protocol/workflows/workflow.ts";
import { remembers } from "../memory/agent-memory.ts";
import type { NamedSecret } from "../memory/redact.ts";
import type { ResolvedAgent } from "../resolve-agent.ts";
import { agentUse } from "./agent-node.ts";
import type { AgentDesk, AgentHost } from "./ask-agent.ts";
import { MEMORY_ACTIONS, probeMemory } from "./memory-probe.ts";
import { settledAgent } from "./settled-agent.ts";

/** Probes for a conformance suite; absent without the conformance seams. */
export interface IdentityProbes {
  readonly secrets: readonly NamedSecret[];
}

/**
 * Passes its inputs on, as ever. With an agent it also finds out which version is meant and records that, as an invocation in which nothing
 * is asked.
 */
export function identityNode(host: AgentHost, desk: () => AgentDesk, probes?: IdentityProbes): PureNodeType {
  const effect: EffectNodeType = {
    kind: "effect",
    typeId: identity.typeId,
    summary: identity.summary,
    config: identity.config,
    execute: (context) => execute(host, desk(), context, probes),
  };
  const probing = probes !== undefined;
  return {
    ...identity,
    gatedConfig: probing ? {} : { memoryAction: "the conformance seams" },
    agent: agentUse(desk, false),
    check: ({ memoryAction }) =>
      memoryAction === undefined || MEMORY_ACTIONS.some((one) => one === memoryAction)
        ? undefined
        : `has a memoryAction that is none of ${MEMORY_ACTIONS.join(", ")}`,
    asEffect: ({ agent, config }) =>
      agent !== undefined || (probing && config["memoryAction"] !== undefined) ? effect : undefined,
  };
}

async function execute(
  host: AgentHost,
  desk: AgentDesk,
  context: EffectContext,
  probes: IdentityProbes | undefined,
): Promise<NodeOutcome> {
  const { node, config } = context;
  const passed = identity.execute(context);
  if (passed.type !== "completed") return passed;
  let events: readonly EventDraft[] = [];
  if (node.agent !== undefined) {
    const resolved = await settledAgent(desk, context, context.append, node.agent);
    if ("refusal" in resolved) return { type: "failed", error: resolved.refusal };
    events = recorded(host.newId("inv"), node.id, node.agent, resolved);
  }
  if (config["memoryAction"] === undefined || probes === undefined || desk.memory === undefined) {
    return { ...passed, events };
  }
  await context.append(events.slice(0, 1));
  const probed = await probeMemory(context, desk.memory, probes.secrets, host.nowMs());
  if ("error" in probed) return { type: "failed", error: probed.error };
  return { ...passed, events: events.slice(1), variables: { ...passed.variables, ...probed.variables } };
}

function recorded(
  invocationId: string,
  nodeId: string,
  { sourceManifestId }: AgentRef,
  { agent, channel }: ResolvedAgent,
): EventDraft[] {
  const about = { invocationId, agentId: agent.agentId };
  return [
    {
      type: "agent.invocation.started",
      nodeId,
      payload: {
        ...about,
        source: "workflow-node",
        modelClass: agent.modelClass,
        resolvedAgentVersion: agent.version,
        ...(channel === undefined ? {} : { resolvedChannel: channel }),
        ...(sourceManifestId === undefined ? {} : { sourceManifestId }),
        toolSurfaceCount: 0,
        memoryBound: remembers(agent),
      },
    },
    { type: "agent.invocation.completed", nodeId, payload: { ...about, outcome: "completed" } },
  ];
}
