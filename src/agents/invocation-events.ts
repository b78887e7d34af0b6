import { scrubInTurns } from "../engine/secrets/scrub-in-turns.ts";
import type { EventDraft } from "../protocol/events.ts";
import type { AssessedAnswer } from "./assess-answer.ts";
import type { Invocation } from "./invocation.ts";

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
      ...(binding.model === undefined ? {} : { resolvedModel: binding.model }),
      ...(binding.provider === undefined ? {} : { resolvedProvider: binding.provider }),
      resolvedAgentVersion: agent.version,
      ...(channel === undefined ? {} : { resolvedChannel: channel }),
      ...(sourceManifestId === undefined ? {} : { sourceManifestId }),
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
      ...(schemaValid === undefined ? {} : { schemaValidated: schemaValid }),
      ...(confidence === undefined ? {} : { confidence }),
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
