import type { EffectContext, EffectNodeType, NodeOutcome } from "../../engine/worker/node-type.ts";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { Count, closed, Share, type Static, Type } from "../../protocol/schema.ts";
import { versionFor } from "../resolve-agent.ts";
import { heldAnswer } from "./agent-node.ts";
import { type AgentDesk, type AgentHost, thresholdOf } from "./ask-agent.ts";

const AgentId = Type.String({ minLength: 3, maxLength: 256 });

const ToolCall = Type.Object(
  {
    toolId: Type.String({ minLength: 1 }),
    arguments: Type.Optional(Type.Unknown()),
    result: Type.Optional(Type.Unknown()),
    error: Type.Optional(
      Type.Object(
        {
          error: Type.String({ minLength: 1 }),
          message: Type.String({ minLength: 1 }),
          details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        },
        closed,
      ),
    ),
    durationMs: Type.Optional(Count),
  },
  closed,
);

const Config = Type.Object(
  {
    agentId: Type.Optional(AgentId),
    mockReasoning: Type.Optional(
      Type.Union([
        Type.Boolean(),
        Type.Object(
          {
            summary: Type.String(),
            trace: Type.Optional(Type.String()),
            tokenCount: Type.Optional(Count),
            streamChunks: Type.Optional(Type.Array(Type.String())),
          },
          closed,
        ),
      ]),
    ),
    mockToolCalls: Type.Optional(Type.Array(ToolCall)),
    mockHandoff: Type.Optional(
      Type.Object(
        { toAgentId: AgentId, reason: Type.Optional(Type.String()), context: Type.Optional(Type.Unknown()) },
        closed,
      ),
    ),
    mockDecision: Type.Optional(
      Type.Object(
        { decision: Type.Unknown(), confidence: Type.Optional(Share), reasoning: Type.Optional(Type.String()) },
        closed,
      ),
    ),
    mockConfidence: Type.Optional(Share),
  },
  closed,
);
type Config = Static<typeof Config>;

/** Plays the events of its config, as an agent would. For conformance suites only; hosts have it with the conformance seams. */
export function mockAgent({ newId }: Pick<AgentHost, "newId">, desk: () => Pick<AgentDesk, "agents">): EffectNodeType {
  return {
    kind: "effect",
    typeId: "core.conformance.mock-agent",
    summary: "Tells the events of an agent that does what the config says.",
    config: Config,
    capability: "conformanceSeams",
    onlyNamesAgent: () => true,
    check: (config) => {
      const call = (config as Config).mockToolCalls?.find((one) => Object.hasOwn(one, "result") === "error" in one);
      return call === undefined ? undefined : `has a call of ${call.toolId} that needs either a result or an error`;
    },
    async execute(context) {
      const { node, run } = context;
      const config = context.config as Config;
      const agentId = config.agentId ?? node.agent?.agentId ?? `host:mock-agent:${node.id}`;
      const decided = decisionOf(config);
      const held = heldAnswer(context) !== undefined;
      if (!held) await context.append(scriptedEvents(config, agentId, node.id, newId));
      const ref = config.agentId === undefined ? (node.agent ?? { agentId }) : { agentId };
      const threshold = thresholdOf(run, await versionFor(desk().agents, run.owner, ref));
      const doubt = { agentId, threshold, observed: decided?.confidence, decision: decided?.decision ?? null };
      return escalated(context, doubt, held) ?? { type: "completed", outputs: { decision: decided?.decision ?? null } };
    },
  };
}

interface Doubt {
  readonly agentId: string;
  readonly threshold: number;
  readonly observed: number | undefined;
  readonly decision: unknown;
}

/**
 * Escalates where the mock is below the threshold, and returns the decision. A decision counts whatever the threshold is by then.
 */
function escalated({ node, interrupt }: EffectContext, data: Doubt, asked: boolean): NodeOutcome | undefined {
  const { observed, threshold } = data;
  if (!asked && (observed === undefined || observed >= threshold)) return undefined;
  const value = interrupt({ kind: "low-confidence", data: { ...data } }) as Readonly<Record<string, unknown>> | null;
  if (value?.["action"] !== "reject") return undefined;
  const message = `What the agent of node ${node.id} decided was rejected.`;
  return { type: "failed", error: { code: "approval_rejected", message } };
}

function decisionOf({ mockDecision, mockConfidence }: Config): Config["mockDecision"] {
  if (mockDecision !== undefined || mockConfidence === undefined) return mockDecision;
  return { decision: { kind: "mock" }, confidence: mockConfidence };
}

function scriptedEvents(config: Config, agentId: string, nodeId: string, newId: AgentHost["newId"]): EventDraft[] {
  const { mockReasoning, mockToolCalls = [], mockHandoff } = config;
  const decided = decisionOf(config);
  const handoff = mockHandoff && { fromAgentId: agentId, ...mockHandoff };
  return [
    ...(mockReasoning === undefined || mockReasoning === false ? [] : reasoned(mockReasoning, agentId, nodeId)),
    ...mockToolCalls.flatMap((call) => called(call, agentId, nodeId, newId)),
    ...(handoff === undefined ? [] : [{ type: "agent.handoff" as const, nodeId, payload: handoff }]),
    ...(decided === undefined ? [] : [{ type: "agent.decided" as const, nodeId, payload: { agentId, ...decided } }]),
  ];
}

function reasoned(mock: Exclude<Config["mockReasoning"], false | undefined>, agentId: string, nodeId: string) {
  const { streamChunks = [], ...rest } = mock === true ? { summary: "Thought about it." } : mock;
  const deltas = streamChunks.map(
    (delta, sequence): EventDraft => ({ type: "agent.reasoning.delta", nodeId, payload: { agentId, delta, sequence } }),
  );
  const { summary, tokenCount } = rest;
  const trace = "trace" in rest ? rest.trace : undefined;
  const reasoning = streamChunks.length > 0 ? streamChunks.join("") : (trace ?? summary);
  const verbosity = reasoning === summary ? ("summary" as const) : ("full" as const);
  const payload = { agentId, reasoning, verbosity, summary, ...defined({ tokenCount }) };
  return [...deltas, { type: "agent.reasoned" as const, nodeId, payload }];
}

function called(
  { toolId: toolName, arguments: inputs, result, error, durationMs }: Static<typeof ToolCall>,
  agentId: string,
  nodeId: string,
  newId: AgentHost["newId"],
): EventDraft[] {
  const about = { agentId, toolName, callId: newId("call") };
  const eventId = newId("evt");
  const outcome =
    error === undefined
      ? { outcome: result ?? null, status: "ok" as const }
      : { error: { code: error.error, message: error.message }, status: "error" as const };
  const took = durationMs === undefined ? {} : { durationMs };
  return [
    { type: "agent.toolCalled", nodeId, eventId, payload: { ...about, ...defined({ inputs }) } },
    { type: "agent.toolReturned", nodeId, causationId: eventId, payload: { ...about, ...outcome, ...took } },
  ];
}
