import { compileSchema } from "../../engine/schemas/decide/json-schema.ts";
import { checked } from "../../engine/schemas/schema-checks.ts";
import { scrubInTurns } from "../../engine/secrets/scrub-in-turns.ts";
import type { EffectContext, EffectNodeType, NodeContext, NodeOutcome } from "../../engine/worker/node-type.ts";
import { defined } from "../../protocol/defined.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import { visitOf } from "../../protocol/runs/run.ts";
import { closed, type Static, Type } from "../../protocol/schema.ts";
import type { AgentRef } from "../../protocol/workflows/workflow.ts";
import { refusalOf } from "../resolve-agent.ts";
import { type AgentDesk, type AgentHost, type Asked, askAgent, failureOf, RETURN_VIOLATION } from "./ask-agent.ts";

export const AGENT_NODE_TYPE = "assay.agent";
/** The same node for direct calls from outside a workflow; registered with the conformance seams. */
export const RUN_API_NODE_TYPE = "core.conformance.live-agent";

const Config = Type.Object(
  {
    resultVariable: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "the variable that the result is written to" }),
    ),
  },
  { additionalProperties: false },
);

/**
 * Asks an installed agent. Its inputs are the task: the value of `task` where that is the only one, else all of them by name. An
 * answer below the threshold waits for a person to accept it, and is not asked for again.
 */
export function agentNode(host: AgentHost, desk: () => AgentDesk, typeId = AGENT_NODE_TYPE): EffectNodeType {
  const source = typeId === AGENT_NODE_TYPE ? ("workflow-node" as const) : ("run-api" as const);
  return {
    kind: "effect",
    typeId,
    summary: "Asks an installed agent; the inputs are its task, the result is what it answers.",
    config: Config,
    capability: "agents",
    agent: agentUse(desk, true),
    async execute(context) {
      const held = heldAnswer(context);
      if (held !== undefined) return ratified(context, held, desk());
      const ref = context.node.agent as AgentRef;
      const asked = await askAgent(host, desk(), context, { ref, task: taskOf(context.inputs), source });
      if ("error" in asked) return { type: "failed", error: asked.error };
      const error = failureOf(asked.invoked, asked.agent.agentId, host.scrubber);
      if (error !== undefined) return { type: "failed", error };
      const answer = answerOf(asked, await scrubInTurns(host.scrubber, asked.invoked.output ?? null));
      if (asked.invoked.outcome === "escalated") escalate(context, asked, answer);
      return completed(context, answer);
    },
  };
}

export function agentUse(desk: () => AgentDesk, required: boolean) {
  return {
    required,
    get channels() {
      return desk().channels !== undefined;
    },
    refusal: (visible: { readonly tenant: string; readonly workspace?: string }, ref: AgentRef) =>
      refusalOf(desk(), visible, ref),
  };
}

export function taskOf(inputs: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(inputs);
  return names.length === 1 && names[0] === "task" ? inputs["task"] : inputs;
}

/** The answer of the node, kept while a person decides on it. */
interface Answer {
  readonly result: unknown;
  readonly outcome: string;
  readonly agentId: string;
  readonly agentVersion: string;
  readonly invocationId: string;
  readonly confidence?: number;
  readonly handoff?: { readonly toAgentId: string; readonly reason?: string };
}

function answerOf({ agent, invocationId, invoked }: Asked, result: unknown): Answer {
  const { outcome, confidence, handoff } = invoked;
  const { agentId, version: agentVersion } = agent;
  return { result, outcome, agentId, agentVersion, invocationId, ...defined({ confidence, handoff }) };
}

function completed({ config }: NodeContext, answer: Answer): NodeOutcome {
  const { resultVariable } = config as Static<typeof Config>;
  return {
    type: "completed",
    outputs: { ...answer },
    ...(resultVariable === undefined ? {} : { variables: { [resultVariable]: answer.result } }),
  };
}

const Verdict = Type.Object(
  { action: Type.Enum(["accept", "reject"]), feedback: Type.Optional(Type.String()) },
  closed,
);

/** Accept it, reject it, or a result of one's own, of the same shape. */
function resumeSchema(returnSchema: object = {}) {
  // A schema with references changes its meaning inside another one; then the answer is checked afterwards.
  const isPlain = !/"\$(?:ref|id|dynamicRef|anchor)"/.test(JSON.stringify(returnSchema));
  const result = Type.Unsafe<unknown>(isPlain ? returnSchema : {});
  return { ...Type.Union([Verdict, Type.Object({ result }, closed)]) };
}

/** Does not return: the node is called again once a person has answered. */
function escalate(context: EffectContext, { agent, invoked, threshold }: Asked, answer: Answer): void {
  const { result, ...rest } = answer;
  context.answerTo({
    kind: "low-confidence",
    data: { agentId: agent.agentId, threshold, observed: invoked.confidence, decision: result, answer: rest },
    resumeSchema: resumeSchema(agent.returnSchema),
  });
}

/** An answer of this visit that was held back; the agent is not asked again for it. */
export function heldAnswer({ node, run }: NodeContext): Interrupt["data"] | undefined {
  const key = `${node.id}:${visitOf(run, node.id)}`;
  return Object.values(run.interrupts).find((one) => one.nodeId === node.id && one.key === key)?.data;
}

async function ratified(context: NodeContext, data: Interrupt["data"], { agents }: AgentDesk): Promise<NodeOutcome> {
  const value = context.interrupt({ kind: "low-confidence", data }) as Readonly<Record<string, unknown>>;
  if (value["action"] === "reject") {
    const message = `What the agent of node ${context.node.id} answered was rejected.`;
    return { type: "failed", error: { code: "approval_rejected", message } };
  }
  const answer = data["answer"] as Omit<Answer, "result">;
  if (value["action"] === "accept") return completed(context, { ...answer, result: data["decision"] ?? null });
  const result = value["result"] ?? null;
  const versions = await agents.versionsOf(context.run.owner, answer.agentId, { version: answer.agentVersion });
  const { returnSchema } = versions.find(({ version }) => version === answer.agentVersion) ?? {};
  const problems =
    returnSchema === undefined ? [] : await checked(() => compileSchema(returnSchema, "return schema")(result));
  if (problems.length > 0) {
    const message = `What was answered in place of agent ${answer.agentId} is not as its return schema has it.`;
    return { type: "failed", error: { code: RETURN_VIOLATION, message } };
  }
  return completed(context, { ...answer, result });
}
