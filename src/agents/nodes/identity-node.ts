import { identity } from "../../engine/nodes/basic.ts";
import type { EffectContext, EffectNodeType, NodeOutcome, PureNodeType } from "../../engine/worker/node-type.ts";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft, RunError } from "../../protocol/events.ts";
import type { AgentRef } from "../../protocol/workflows/workflow.ts";
import { remembers, scopeFor, writtenEvent } from "../memory/agent-memory.ts";
import type { MemoryAdapter, NamedSecret, NewEntry } from "../memory/memory-adapter.ts";
import type { MemoryScope } from "../memory/memory-document.ts";
import { type ResolvedAgent, settledAgent } from "../resolve-agent.ts";
import { agentUse } from "./agent-node.ts";
import type { AgentDesk, AgentHost } from "./ask-agent.ts";

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
        ...defined({ resolvedChannel: channel, sourceManifestId }),
        toolSurfaceCount: 0,
        memoryBound: remembers(agent),
      },
    },
    { type: "agent.invocation.completed", nodeId, payload: { ...about, outcome: "completed" } },
  ];
}

/** A secret that is none: what a conformance suite asks to be taken out of memories. */
export const TEST_SECRET: NamedSecret = {
  id: "conformance-test-secret",
  value: "conformance-test-secret-value-7f3a9c51",
};

const MEMORY_ACTIONS = ["write-then-read", "ttl-probe", "redaction-probe", "cross-tenant-probe"] as const;
type MemoryAction = (typeof MEMORY_ACTIONS)[number];

type Probed = { readonly variables: Readonly<Record<string, unknown>> } | { readonly error: RunError };

const HOUR_MS = 3_600_000;

/** Does what a conformance suite wants to see of memories, with the same adapter that agents have. */
async function probeMemory(
  context: EffectContext,
  memory: MemoryAdapter,
  secrets: readonly NamedSecret[],
  nowMs: number,
): Promise<Probed> {
  const { run, node, config } = context;
  const { agentId = "host:memory-probe", memoryRef } = node.agent ?? {};
  const scope = scopeFor(run.owner, agentId, memoryRef);
  const write = async (entry: NewEntry) => {
    const change = await memory.put(scope, entry, run.runId);
    await context.append([writtenEvent(node.id, node.agent?.agentId, scope, change)], { documents: [change.write] });
    return change.memoryId;
  };
  switch (config["memoryAction"] as MemoryAction) {
    case "write-then-read":
      await write({ content: `remembered by ${node.id}`, tags: ["conformance"] });
      return { variables: { memoryReadback: (await memory.list(scope, { limit: 1 }))[0] ?? null } };
    case "ttl-probe":
      await write({ content: "is over", tags: ["past"], expiresAt: new Date(nowMs - HOUR_MS).toISOString() });
      await write({ content: "still holds", tags: ["future"], expiresAt: new Date(nowMs + HOUR_MS).toISOString() });
      return { variables: { memoryList: await memory.list(scope) } };
    case "redaction-probe": {
      const secretId = String(config["byokSecretId"] ?? TEST_SECRET.id);
      const secret = secrets.find(({ id }) => id === secretId);
      if (secret === undefined) {
        const message = `Node ${node.id} asks for a secret that this host does not have.`;
        return { error: { code: "secret_not_found", message, details: { secretId } } };
      }
      const id = await write({ content: `The key is ${secret.value}; keep it.`, tags: ["conformance"] });
      return { variables: { memoryReadback: await memory.get(scope, id) } };
    }
    case "cross-tenant-probe": {
      const probed: MemoryScope = { ...scope, memoryRef: String(config["probeMemoryRef"] ?? scope.memoryRef) };
      return { variables: { crossTenantProbe: await memory.list(probed) } };
    }
  }
}
