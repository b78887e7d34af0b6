import { compileSchema } from "../engine/decide/json-schema.ts";
import type { Scrubber } from "../formats/scrub.ts";
import type { InvocationOutcome } from "../protocol/agent-events.ts";
import type { EventDraft } from "../protocol/events.ts";
import type { MemoryEntry } from "../protocol/memory.ts";
import type { AgentAnswer, AgentFailure, Binding, Usage } from "./binding.ts";
import type { InstalledAgent } from "./installed-agent.ts";
import { watchedTools } from "./invocation-tools.ts";
import { type FinishReason, Messages, Reasoning, type Speaker, type Verbosity } from "./spoken.ts";
import type { ToolSurface } from "./tool-surface.ts";
import { costOf, usageEvent } from "./usage-event.ts";

export interface Invocation {
  readonly agent: InstalledAgent;
  readonly binding: Binding;
  readonly input: unknown;
  readonly runId: string;
  readonly nodeId: string;
  readonly invocationId: string;
  readonly source: "workflow-node" | "run-api";
  /** How the version was chosen, where a channel was named. */
  readonly channel?: string;
  /** Where the one who asks says the agent comes from. */
  readonly sourceManifestId?: string;
  readonly taskId?: string;
  readonly trial?: number;
  /** Cut down to what the agent may call. */
  readonly tools: ToolSurface;
  readonly memory: readonly MemoryEntry[];
  readonly memoryBound?: boolean;
  /** Whether the log is told what was said, or only that something was: evaluations keep all of it out. */
  readonly content: boolean;
  /** How much of what it reasons. */
  readonly verbosity?: Verbosity;
  /** Below this the answer is not enough, and somebody is to be asked. */
  readonly threshold?: number;
  /** For whom tools are called. */
  readonly principal?: string;
  /** Resolves once everything that was told is durable; tools act after that. */
  readonly told?: () => Promise<void>;
  readonly scrubber: Scrubber;
  readonly newId: (prefix: "evt" | "call") => string;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

export interface Invoked {
  readonly outcome: InvocationOutcome;
  /** Of one that completed, was handed off or escalated; untrusted. */
  readonly output?: unknown;
  readonly failure?: AgentFailure;
  readonly refusal?: string;
  readonly handoff?: { readonly toAgentId: string; readonly reason?: string };
  readonly confidence?: number;
  /** Whether the output is as the agent's schema has it; absent where there is none. */
  readonly schemaValid?: boolean;
  readonly usage: readonly Usage[];
  /** Absent where no price is known of some call. */
  readonly costUsd?: number;
  readonly latencyMs: number;
  /** Tools outside the allow-list that were asked for. */
  readonly denied: readonly string[];
}

/**
 * Calls an agent once and tells the log of it: started, prompt, what it reasoned and did, what it used, what it came to,
 * completed. Every event carries the node, so that a replay finds them; none of them carries a prompt or a secret.
 */
export async function invoke(invocation: Invocation, emit: (event: EventDraft) => void): Promise<Invoked> {
  const { agent, binding, nodeId, invocationId, input, scrubber, content, signal } = invocation;
  const { agentId } = agent;
  const begunAtMs = invocation.nowMs();
  const usage: Usage[] = [];
  const denied: string[] = [];
  const { runId, verbosity = "full" } = invocation;
  const speaker: Speaker = { agentId, nodeId, runId, scrubber, content, verbosity, emit };
  const reasoning = new Reasoning(speaker);
  const messages = new Messages(speaker);
  emit(started(invocation));
  const refusedTask = agent.taskSchema === undefined ? [] : compileSchema(agent.taskSchema, "task schema")(input);
  const answer: AgentAnswer =
    refusedTask.length > 0
      ? failedAs("agent_task_invalid", `The task is not one that ${agentId} takes: ${first(refusedTask)}`)
      : await (async () => {
          emit(promptResolved(invocation));
          return binding.call(
            {
              input,
              runId,
              invocationId,
              ...(invocation.taskId === undefined ? {} : { taskId: invocation.taskId }),
              ...(invocation.trial === undefined ? {} : { trial: invocation.trial }),
              systemPrompt: agent.systemPrompt,
              ...(agent.returnSchema === undefined ? {} : { returnSchema: agent.returnSchema }),
              tools: watchedTools(invocation.tools, {
                agentId,
                nodeId,
                scrubber,
                content,
                ...(invocation.principal === undefined ? {} : { principal: invocation.principal }),
                ...(invocation.told === undefined ? {} : { told: invocation.told }),
                newId: invocation.newId,
                nowMs: invocation.nowMs,
                emit,
                asked: () => {
                  reasoning.close();
                  messages.end("tool-calls");
                },
                denied: (name) => denied.push(name),
              }),
              memory: invocation.memory,
              signal,
            },
            {
              reasoning: (delta) => reasoning.add(delta),
              chunk: (text) => messages.add(text),
              usage: (used) => {
                usage.push(used);
                messages.used(used);
              },
              again: () => {
                reasoning.breakOff();
                messages.breakOff();
              },
            },
          );
        })();
  signal.throwIfAborted();
  reasoning.close();
  messages.end(finishOf(answer));
  for (const used of usage) emit(usageEvent(nodeId, used));
  const judged = judge(invocation, answer);
  if (judged.outcome !== "failed" && judged.outcome !== "refused") {
    const decision = content ? scrubber.scrubValue(judged.output ?? null) : judged.outcome;
    const { confidence } = judged;
    emit({
      type: "agent.decided",
      nodeId,
      payload: { agentId, decision, ...(confidence === undefined ? {} : { confidence }) },
    });
  }
  if (judged.handoff !== undefined) {
    const { toAgentId, reason } = judged.handoff;
    const why = content && reason !== undefined ? { reason: scrubber.scrubText(reason) } : {};
    emit({ type: "agent.handoff", nodeId, payload: { fromAgentId: agentId, toAgentId, ...why } });
  }
  emit({
    type: "agent.invocation.completed",
    nodeId,
    payload: {
      invocationId,
      agentId,
      outcome: judged.outcome,
      ...(judged.schemaValid === undefined ? {} : { schemaValidated: judged.schemaValid }),
      ...(judged.confidence === undefined ? {} : { confidence: judged.confidence }),
    },
  });
  const costUsd = costOf(usage);
  return {
    ...judged,
    usage,
    ...(costUsd === undefined ? {} : { costUsd }),
    latencyMs: Math.max(0, Math.round(invocation.nowMs() - begunAtMs)),
    denied,
  };
}

function finishOf(answer: AgentAnswer): FinishReason {
  if (answer.type === "completed") return "stop";
  if (answer.type === "refused") return "content-filter";
  return answer.error.code === "agent_output_too_large" ? "length" : "error";
}

type Judged = Pick<Invoked, "outcome" | "output" | "failure" | "refusal" | "handoff" | "confidence" | "schemaValid">;

function judge({ agent, threshold }: Invocation, answer: AgentAnswer): Judged {
  if (answer.type === "refused") return { outcome: "refused", refusal: answer.reason };
  if (answer.type === "failed") return { outcome: "failed", failure: answer.error };
  const { output, confidence, handoff } = answer;
  const problems = agent.returnSchema === undefined ? [] : compileSchema(agent.returnSchema, "return schema")(output);
  if (problems.length > 0) {
    const message = `The answer is not as the agent's return schema has it: ${first(problems)}`;
    return { outcome: "failed", output, schemaValid: false, failure: failure("agent_output_invalid", message) };
  }
  const escalates = threshold !== undefined && confidence !== undefined && confidence < threshold;
  return {
    outcome: handoff !== undefined ? "handed-off" : escalates ? "escalated" : "completed",
    output,
    ...(handoff === undefined ? {} : { handoff }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(agent.returnSchema === undefined ? {} : { schemaValid: true }),
  };
}

function failedAs(code: AgentFailure["code"], message: string): AgentAnswer {
  return { type: "failed", error: failure(code, message) };
}

function failure(code: AgentFailure["code"], message: string): AgentFailure {
  return { code, message, retryable: false };
}

function first(problems: readonly { readonly path: string; readonly problem: string }[]): string {
  const { path = "", problem = "does not match" } = problems[0] ?? {};
  return `${path === "" ? "it" : path} ${problem}`;
}

function started({
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

function promptResolved({ agent, nodeId }: Invocation): EventDraft {
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
