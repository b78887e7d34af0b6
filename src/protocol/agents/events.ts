import { RunErrorShape } from "../runs/run-errors.ts";
import { Count, closed, JsonObject, Name, nullable, open, Positive, Share, type Static, Type } from "../schema.ts";

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

/** How often a model is asked for a value of a given shape before that is given up. */
export const ENVELOPE_ATTEMPTS = 3;
/** The factor by which the token limit grows after a truncated answer. */
export const TRUNCATION_BUDGET_MULTIPLIER = 2;

const Flaw = Type.Enum(["schema-violation", "truncation", "parse-error"]);
export type EnvelopeFlaw = Static<typeof Flaw>;

/** Failures of structured output. Their payloads carry none of the model's text. Part of the catalogue in `events.ts`. */
export const ENVELOPE_EVENTS = {
  "envelope.retry.attempted": {
    tier: "debug",
    summary: "A model is asked again for a value of the right shape; the attempt is the one that begins.",
    payload: Type.Object({ nodeId: Name, attempt: Type.Integer({ minimum: 2, maximum: 16 }), reason: Flaw }, closed),
  },
  "envelope.retry.exhausted": {
    tier: "debug",
    summary: "A model never gave a value of the right shape; its node fails next.",
    payload: Type.Object({ nodeId: Name, totalAttempts: Positive, finalReason: Flaw }, closed),
  },
  "envelope.refusal": {
    tier: "debug",
    summary:
      "A model, or its provider, declined; it is not asked again. Its text is left out: it may quote the prompt.",
    payload: Type.Object({ nodeId: Name, provider: Name, model: Name, refusalText: Type.Null() }, closed),
  },
  "envelope.truncated": {
    tier: "debug",
    summary: "A model was cut off at the most tokens it may use.",
    payload: Type.Object(
      {
        nodeId: Name,
        provider: Name,
        model: Name,
        stopReason: Type.Literal("max_tokens"),
        partialPayloadAvailable: Type.Literal(false),
        outputTokenCount: nullable(Count),
      },
      closed,
    ),
  },
  "envelope.nlToFormat.engaged": {
    tier: "debug",
    summary: "A model answered in prose however often it was asked; it is asked once more, for the form alone.",
    payload: Type.Object({ nodeId: Name, originalEnvelopeType: Name, fallbackCalls: Type.Literal(1) }, closed),
  },
  "envelope.recovery.applied": {
    tier: "debug",
    summary: "The value was in a Markdown fence, and was taken out of it.",
    payload: Type.Object({ nodeId: Name, path: Type.Literal("markdown-fence") }, closed),
  },
} as const;
