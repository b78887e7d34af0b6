import { scrubInTurns } from "../engine/secrets/scrub-in-turns.ts";
import { defined } from "../protocol/defined.ts";
import type { EventDraft } from "../protocol/events.ts";
import type { Usage } from "./binding.ts";
import type { Invocation } from "./invocation.ts";
import type { AssessedAnswer } from "./invoke.ts";

export function startedEvent({
  agent,
  binding,
  nodeId,
  invocationId,
  source,
  channel,
  sourceManifestId,
  tools,
  memoryBound,
}: Invocation): EventDraft {
  return {
    type: "agent.invocation.started",
    nodeId,
    payload: {
      invocationId,
      agentId: agent.agentId,
      source,
      modelClass: agent.modelClass,
      ...defined({ resolvedModel: binding.model, resolvedProvider: binding.provider }),
      resolvedAgentVersion: agent.version,
      ...defined({ resolvedChannel: channel, sourceManifestId }),
      toolSurfaceCount: tools.tools.length,
      memoryBound: memoryBound ?? false,
    },
  };
}

export function promptEvent({ agent, nodeId }: Invocation): EventDraft {
  const { agentId } = agent;
  return {
    type: "agent.promptResolved",
    nodeId,
    payload: {
      nodeId,
      kind: "system",
      agentId,
      chain: [{ layer: "agent-intrinsic", source: agentId, applied: true }],
      resolved: `${agentId}@${agent.version}`,
    },
  };
}

/** The events at the end of an invocation, with its outcome. */
export async function endEvents(invocation: Invocation, judged: AssessedAnswer): Promise<EventDraft[]> {
  const { agent, nodeId, invocationId } = invocation;
  const { outcome, schemaValid, confidence } = judged;
  const completed: EventDraft = {
    type: "agent.invocation.completed",
    nodeId,
    payload: {
      invocationId,
      agentId: agent.agentId,
      outcome,
      ...defined({ schemaValidated: schemaValid, confidence }),
    },
  };
  return [...(await decidedEvents(invocation, judged)), ...handoffEvents(invocation, judged), completed];
}

async function decidedEvents(
  { agent, nodeId, content, scrubber }: Invocation,
  judged: AssessedAnswer,
): Promise<EventDraft[]> {
  const { outcome, output, confidence } = judged;
  if (outcome === "failed" || outcome === "refused") return [];
  const decision = content ? await scrubInTurns(scrubber, output ?? null) : outcome;
  const sure = confidence === undefined ? {} : { confidence };
  return [{ type: "agent.decided", nodeId, payload: { agentId: agent.agentId, decision, ...sure } }];
}

function handoffEvents({ agent, nodeId, content }: Invocation, { handoff }: AssessedAnswer): EventDraft[] {
  if (handoff === undefined) return [];
  const { toAgentId, reason } = handoff;
  const why = content && reason !== undefined ? { reason } : {};
  return [{ type: "agent.handoff", nodeId, payload: { fromAgentId: agent.agentId, toAgentId, ...why } }];
}

export function usageEvent(nodeId: string, { costUsd, ...used }: Usage): EventDraft {
  const cost = costUsd === undefined ? {} : { costEstimateUsd: costUsd, currency: "USD" };
  const totalTokens = used.inputTokens + used.outputTokens;
  return { type: "provider.usage", nodeId, payload: { ...used, totalTokens, ...cost, nodeId } };
}

/** Undefined as soon as one price is unknown: a partial sum would look complete. */
export function totalCost(parts: readonly { readonly costUsd?: number | undefined }[]): number | undefined {
  let sum = 0;
  for (const { costUsd } of parts) {
    if (costUsd === undefined) return undefined;
    sum += costUsd;
  }
  return sum;
}
