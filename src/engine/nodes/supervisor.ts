import type { EventDraft } from "../../protocol/events.ts";
import {
  DEFAULT_ESCALATION_THRESHOLD,
  decisionAmong,
  OrchestratorDecision,
  SUPERVISOR,
  workersOf,
} from "../../protocol/runs/orchestrator.ts";
import { visitOf } from "../../protocol/runs/run.ts";
import { closed, matches, problemsOf, type Static, type TSchema, Type } from "../../protocol/schema.ts";
import { AgentRef } from "../../protocol/workflows/workflow.ts";
import type { EffectNodeType, NodeContext, NodeOutcome } from "../worker/node-type.ts";
import { agentNamedBy } from "../workflows/check-agents.ts";
import { type DecisionSource, isScripted, scripted, scriptOf, Worker } from "./decision-source.ts";

const Script = Type.Optional(Type.Array(OrchestratorDecision, { maxItems: 1000 }));

const Config = Type.Object(
  {
    agentId: Type.Optional(AgentRef.properties.agentId),
    workers: Type.Optional(Type.Array(Worker, { minItems: 1, maxItems: 1000 })),
    mockDispatchPlan: Script,
    mockDecisions: Script,
    mockPendingDecision: Type.Optional(OrchestratorDecision),
    mockConfidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  { additionalProperties: true },
);
type Config = Static<typeof Config>;

/** The agent in events where none is named: the plan in the workflow decides. */
const PLAN_AGENT = "host:supervisor";

/**
 * Decides which workers are next, and when the loop ends. A supervisor with a script follows it; any other asks its agent. The decision is in the
 * log before it is executed, so neither a crash nor a replay decides again.
 */
export function supervisor(agents?: DecisionSource, planless: DecisionSource = scripted): EffectNodeType {
  return {
    kind: "effect",
    typeId: SUPERVISOR,
    summary: "Decides which worker workflow runs next, whom to ask, or that the run is done.",
    config: Config,
    capability: "orchestrator",
    check: strangerInScript,
    asksPerson: () => true,
    onlyNamesAgent: (config) => isScripted(config as Config),
    async execute(context) {
      const { node, run, config } = context;
      const agent = agentNamedBy(node);
      const agentId = agent?.agentId ?? PLAN_AGENT;
      const held = heldDecision(context);
      if (held !== undefined) return ratified(context, agentId, held);
      const { workers = [] } = config as Config;
      const unscripted = agent === undefined ? planless : agents;
      const source = isScripted(config as Config) ? scripted : unscripted;
      if (source === undefined) return failed("agent_not_configured", `Agent ${agentId} cannot be asked on this host.`);
      const turn = (run.orchestrator?.turns ?? 0) + 1;
      const schema = decisionAmong(workers.map(({ workflowId }) => workflowId));
      const made = await source.decide({ context, agentId, turn, workers, schema });
      if ("error" in made) return { type: "failed", error: made.error };
      const { decision, confidence } = made;
      const problem = problemWith(config as Config, decision);
      if (problem !== undefined) {
        return failed("orchestrator_decision_invalid", `Agent ${agentId} decided something that ${problem}.`);
      }
      const threshold = thresholdOf(context, made.threshold);
      if (confidence !== undefined && confidence < threshold) {
        context.answerTo({
          kind: "low-confidence",
          data: { agentId, threshold, observed: confidence, decision },
          resumeSchema: ratification(schema),
        });
      }
      return decided(node.id, agentId, decision as OrchestratorDecision);
    },
  };
}

function strangerInScript(config: Config): string | undefined {
  const problem = scriptOf(config)
    .map((decision) => problemWith(config, decision))
    .find((one) => one !== undefined);
  return problem === undefined ? undefined : `has a decision that ${problem}`;
}

function decided(nodeId: string, agentId: string, decision: OrchestratorDecision): NodeOutcome {
  const event: EventDraft = { type: "runOrchestrator.decided", nodeId, payload: { agentId, decision } };
  return { type: "completed", outputs: { kind: decision.kind, decision }, events: [event] };
}

/** The threshold of the run, of the decider, or the default. */
function thresholdOf({ run }: NodeContext, own: number | undefined): number {
  const wanted = run.configurable?.["escalationThreshold"];
  return typeof wanted === "number" ? wanted : (own ?? DEFAULT_ESCALATION_THRESHOLD);
}

/** The problem with a decision: it may name only the supervisor's workers. */
function problemWith({ workers }: Config, decision: unknown): string | undefined {
  if (!matches(OrchestratorDecision, decision)) {
    const [first] = problemsOf(OrchestratorDecision, decision);
    return `is no decision: ${first?.path ?? ""} ${first?.problem ?? "it does not match"}`;
  }
  const stranger = workersOf(decision).find((id) => workers?.every(({ workflowId }) => workflowId !== id));
  return stranger === undefined ? undefined : `names ${JSON.stringify(stranger)}, which is none of its workers`;
}

const Ratification = Type.Object(
  { action: Type.Enum(["accept", "reject"]), feedback: Type.Optional(Type.String()) },
  closed,
);

/** The schema of answers: accept, reject, or another decision. */
function ratification(decision: TSchema) {
  return { ...Type.Union([Ratification, Type.Object({ decision }, closed), decision]) };
}

/** A decision of this visit that waits for ratification; the agent is not asked again. */
function heldDecision({ node, run }: NodeContext): Readonly<Record<string, unknown>> | undefined {
  const key = `${node.id}:${visitOf(run, node.id)}`;
  return Object.values(run.interrupts).find((one) => one.nodeId === node.id && one.key === key)?.data;
}

/** The outcome of a ratification: the decision, a rejection, or another decision. */
function ratified({ node, config, interrupt }: NodeContext, agentId: string, data: object): NodeOutcome {
  const held = data as Readonly<Record<string, unknown>>;
  const value = interrupt({ kind: "low-confidence", data: held }) as Readonly<Record<string, unknown>>;
  if (value["action"] === "reject") return failed("approval_rejected", `The decision of node ${node.id} was rejected.`);
  const chosen = value["action"] === "accept" ? confirmed(held["decision"]) : (value["decision"] ?? value);
  const problem = problemWith(config as Config, chosen);
  if (problem !== undefined) return failed("orchestrator_decision_invalid", `The answer ${problem}.`);
  return decided(node.id, agentId, chosen as OrchestratorDecision);
}

/** A ratified decision has no confidence any more, so that the dispatch does not ask again. */
function confirmed(decision: unknown): unknown {
  const { confidence: _, ...rest } = decision as { readonly confidence?: unknown };
  return rest;
}

function failed(
  code: "agent_not_configured" | "approval_rejected" | "orchestrator_decision_invalid",
  message: string,
): NodeOutcome {
  return { type: "failed", error: { code, message } };
}
