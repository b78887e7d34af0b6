import { RunErrorShape } from "../runs/run-error.ts";
import { Count, closed, JsonObject, Name, nullable, open, Share, Type } from "../schema.ts";

const AgentId = Type.String({ minLength: 3, maxLength: 256 });

export const INVOCATION_OUTCOMES = ["completed", "handed-off", "escalated", "refused", "failed"] as const;
export type InvocationOutcome = (typeof INVOCATION_OUTCOMES)[number];

/** Events of an agent invocation. Part of the catalogue in `events.ts`. */
export const AGENT_EVENTS = {
  "agent.invocation.started": {
    tier: "debug",
    summary: "An agent is called: which one, in which version, on which model. Opens the bracket of the invocation.",
    payload: Type.Object(
      {
        invocationId: Name,
        agentId: Name,
        source: Type.Enum(["workflow-node", "run-api", "chat-mention"]),
        modelClass: Type.Optional(Name),
        resolvedModel: Type.Optional(Name),
        resolvedProvider: Type.Optional(Name),
        resolvedAgentVersion: Type.Optional(Name),
        resolvedChannel: Type.Optional(Name),
        sourceManifestId: Type.Optional(Name),
        toolSurfaceCount: Type.Optional(Count),
        memoryBound: Type.Optional(Type.Boolean()),
      },
      open,
    ),
  },
  "assay.agent.pinned": {
    tier: "debug",
    summary:
      "Which version a channel of an agent is for this run. Written before the agent is first asked for by it, and once.",
    payload: Type.Object({ agentId: AgentId, channel: Name, version: Name }, closed),
  },
  "agent.promptResolved": {
    tier: "debug",
    summary: "The source of the agent's prompt; never its text.",
    payload: Type.Object(
      {
        nodeId: Name,
        kind: Type.Enum(["system", "user", "few-shot", "schema-hint"]),
        agentId: Type.Optional(Name),
        chain: Type.Array(
          Type.Object(
            {
              layer: Type.Enum([
                "run-configurable",
                "node",
                "agent-intrinsic",
                "agent-overrides",
                "agent-library-default",
                "workflow-defaults",
                "host-defaults",
              ]),
              source: Type.Optional(Type.String()),
              applied: Type.Boolean(),
              reason: Type.Optional(Type.String()),
            },
            closed,
          ),
        ),
        resolved: nullable(Type.String()),
      },
      closed,
    ),
  },
  "agent.reasoning.delta": {
    tier: "debug",
    summary: "A piece of an agent's reasoning as it is streamed; counted from 0.",
    payload: Type.Object({ agentId: AgentId, delta: Type.String(), sequence: Count }, open),
  },
  "agent.reasoned": {
    tier: "debug",
    summary: "What an agent reasoned, in one piece.",
    payload: Type.Object(
      {
        agentId: AgentId,
        reasoning: Type.String(),
        verbosity: Type.Optional(Type.Enum(["summary", "full", "off"])),
        superseded: Type.Optional(
          Type.Boolean({ description: "the call broke off and was made anew: this counts for nothing" }),
        ),
      },
      open,
    ),
  },
  "agent.toolCalled": {
    tier: "debug",
    summary: "An agent calls a tool of its allow-list.",
    payload: Type.Object(
      {
        agentId: AgentId,
        toolName: Name,
        callId: Name,
        inputs: Type.Optional(Type.Unknown()),
        argsHash: Type.Optional(Name),
        principal: Type.Optional(Name),
        transport: Type.Optional(Type.Enum(["mcp", "http", "native"])),
      },
      open,
    ),
  },
  "agent.toolReturned": {
    tier: "debug",
    summary: "The result of the call with that callId; its cause is the event of the call.",
    payload: Type.Object(
      {
        agentId: AgentId,
        toolName: Name,
        callId: Name,
        outcome: Type.Optional(Type.Unknown()),
        error: Type.Optional(RunErrorShape),
        status: Type.Optional(Type.Enum(["ok", "error", "forbidden", "rate_limited"])),
        durationMs: Type.Optional(Count),
      },
      open,
    ),
  },
  "agent.handoff": {
    tier: "debug",
    summary: "An agent passes its task on.",
    payload: Type.Object({ fromAgentId: AgentId, toAgentId: AgentId, reason: Type.Optional(Type.String()) }, open),
  },
  "agent.decided": {
    tier: "debug",
    summary: "The result of an agent, and its confidence.",
    payload: Type.Object({ agentId: AgentId, decision: Type.Unknown(), confidence: Type.Optional(Share) }, open),
  },
  "agent.invocation.completed": {
    tier: "debug",
    summary: "The invocation is over; closes its bracket.",
    payload: Type.Object(
      {
        invocationId: Name,
        agentId: Name,
        outcome: Type.Enum([...INVOCATION_OUTCOMES]),
        schemaValidated: Type.Optional(Type.Boolean()),
        confidence: Type.Optional(Share),
        enqueuedRunId: Type.Optional(Name),
      },
      open,
    ),
  },
  "provider.usage": {
    tier: "debug",
    summary: "What one call of a model used, and what it cost as far as its price is known.",
    payload: Type.Object(
      {
        provider: Name,
        model: Name,
        inputTokens: Count,
        outputTokens: Count,
        totalTokens: Type.Optional(Count),
        costEstimateUsd: Type.Optional(Type.Number({ minimum: 0 })),
        currency: Type.Optional(Type.String({ pattern: "^[A-Z]{3}$" })),
        cacheHit: Type.Optional(Type.Boolean()),
        cacheReadTokens: Type.Optional(Count),
        cacheWriteTokens: Type.Optional(Count),
        nodeId: Type.Optional(Name),
        traceId: Type.Optional(Name),
      },
      closed,
    ),
  },
  "output.chunk": {
    tier: "messages",
    summary: "A piece of a node's output as it is made.",
    payload: Type.Object(
      {
        nodeId: Name,
        runId: Name,
        chunk: Type.String(),
        isLast: Type.Boolean(),
        channel: Type.Optional(Type.String()),
        meta: Type.Optional(JsonObject),
      },
      open,
    ),
  },
  "memory.written": {
    tier: "debug",
    summary: "An agent stored a memory; never its content.",
    payload: Type.Object(
      {
        memoryRef: Name,
        memoryId: Name,
        nodeId: Type.Optional(Name),
        agentId: Type.Optional(Name),
        tags: Type.Optional(Type.Array(Type.String())),
      },
      open,
    ),
  },
} as const;
