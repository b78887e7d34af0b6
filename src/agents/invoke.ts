import { setImmediate as nextTurn } from "node:timers/promises";
import { compileSchema } from "../engine/schemas/decide/json-schema.ts";
import { checked } from "../engine/schemas/schema-checks.ts";
import { defined } from "../protocol/defined.ts";
import type { EventDraft } from "../protocol/events.ts";
import { problemText } from "../protocol/schema.ts";
import type { AgentAnswer, AgentFailure, AgentTask, Usage, Watcher } from "./binding.ts";
import { failed } from "./bindings/answers.ts";
import type { Invocation, Invoked } from "./invocation.ts";
import { endEvents, promptEvent, startedEvent, totalCost, usageEvent } from "./invocation-events.ts";
import { watchedTools } from "./invocation-tools.ts";
import { type FinishReason, Messages, Reasoning, type Speaker } from "./message-stream.ts";
import type { ToolSurface } from "./tool-surface.ts";
import { transcribedReasoning, transcribedTools } from "./transcript.ts";

type Emit = (event: EventDraft) => void;

/**
 * Calls an agent once and logs it: started, prompt, reasoning and tool calls, usage, decision, completed. The last events may go
 * to another log, because they say that the answer is there. Every event carries the node, so that a replay finds them; none of
 * them carries a prompt or a secret.
 */
export async function invoke(invocation: Invocation, emit: Emit, emitEnd = emit): Promise<Invoked> {
  const { binding, nodeId, nowMs, signal } = invocation;
  const begunAtMs = nowMs();
  const heard = new Heard(invocation, emit);
  emit(startedEvent(invocation));
  let answer = await checked(() => refusedTask(invocation));
  if (answer === undefined) {
    emit(promptEvent(invocation));
    answer = await binding.call(taskOf(invocation, heard.tools(emit)), heard);
  }
  const ended = answer;
  // A long answer took its time to be read; judging it does as well.
  await nextTurn();
  signal.throwIfAborted();
  heard.end(finishOf(ended));
  const { used, denied } = heard;
  for (const one of used) emit(usageEvent(nodeId, one));
  const judged = await checked(() => assessAnswer(invocation, ended));
  for (const event of await endEvents(invocation, judged)) emitEnd(event);
  const costUsd = totalCost(used);
  return {
    ...judged,
    usage: used,
    ...defined({ costUsd }),
    latencyMs: Math.max(0, Math.round(nowMs() - begunAtMs)),
    denied,
  };
}

function taskOf({ agent, input, ...invocation }: Invocation, tools: ToolSurface): AgentTask {
  const { runId, invocationId, taskId, trial, memory, wished, signal } = invocation;
  const { systemPrompt, returnSchema } = agent;
  return {
    input,
    runId,
    invocationId,
    ...defined({ taskId, trial }),
    systemPrompt,
    ...defined({ returnSchema }),
    tools,
    memory,
    ...wished,
    signal,
  };
}

/** Collects the events of an agent during a call. */
class Heard implements Watcher {
  readonly used: Usage[] = [];
  readonly denied: string[] = [];
  readonly #invocation: Invocation;
  readonly #reasoning: Reasoning;
  readonly #transcribed: Reasoning | undefined;
  readonly #messages: Messages;

  constructor(invocation: Invocation, emit: Emit) {
    const { agent, nodeId, runId, scrubber, content, verbosity = "full", transcript } = invocation;
    const speaker: Speaker = { agentId: agent.agentId, nodeId, runId, scrubber, content, verbosity, emit };
    this.#invocation = invocation;
    this.#reasoning = new Reasoning(speaker);
    this.#transcribed = transcript && transcribedReasoning(transcript, speaker);
    this.#messages = new Messages(speaker);
  }

  reasoning(delta: string): void {
    this.#reasoning.add(delta);
    this.#transcribed?.add(delta);
  }

  chunk(text: string): void {
    this.#messages.add(text);
  }

  usage(used: Usage): void {
    this.used.push(used);
    this.#messages.used(used);
  }

  again(): void {
    this.#reasoning.breakOff();
    this.#transcribed?.breakOff();
    this.#messages.breakOff();
  }

  end(why: FinishReason): void {
    this.#reasoning.close();
    this.#transcribed?.close();
    this.#messages.end(why);
  }

  tools(emit: Emit): ToolSurface {
    const { agent, nodeId, scrubber, content, principal, flushed, newId, nowMs, tools, transcript } = this.#invocation;
    const watched = watchedTools(tools, {
      agentId: agent.agentId,
      nodeId,
      scrubber,
      content,
      ...defined({ principal, flushed }),
      newId,
      nowMs,
      emit,
      asked: () => this.end("tool-calls"),
      denied: (name) => this.denied.push(name),
    });
    return transcribedTools(watched, transcript);
  }
}

function finishOf(answer: AgentAnswer): FinishReason {
  if (answer.type === "completed") return "stop";
  if (answer.type === "refused") return "content-filter";
  return answer.error.code === "agent_output_too_large" ? "length" : "error";
}

export type AssessedAnswer = Pick<
  Invoked,
  "outcome" | "output" | "failure" | "refusal" | "handoff" | "confidence" | "schemaValid"
>;

type Handoff = NonNullable<Invoked["handoff"]>;

/** Assesses an answer by the return schema and the confidence threshold of the agent. */
function assessAnswer({ agent, threshold, scrubber }: Invocation, answer: AgentAnswer): AssessedAnswer {
  if (answer.type === "refused") return { outcome: "refused", refusal: answer.reason };
  if (answer.type === "failed") return { outcome: "failed", failure: answer.error };
  const { output, confidence, handoff } = answer;
  const [first] = agent.returnSchema === undefined ? [] : compileSchema(agent.returnSchema, "return schema")(output);
  if (first !== undefined) {
    const message = `The answer does not match the return schema of the agent: ${problemText(first)}`;
    const failure: AgentFailure = { code: "agent_output_invalid", message, retryable: false };
    return { outcome: "failed", output, schemaValid: false, failure };
  }
  const escalates = threshold !== undefined && confidence !== undefined && confidence < threshold;
  return {
    outcome: handoff !== undefined ? "handed-off" : escalates ? "escalated" : "completed",
    output,
    ...(handoff === undefined ? {} : { handoff: cleanHandoff(handoff, scrubber) }),
    ...defined({ confidence }),
    ...(agent.returnSchema === undefined ? {} : { schemaValid: true }),
  };
}

/** The target and the reason of a handoff are visible to all readers of the run. */
function cleanHandoff(
  { toAgentId, reason }: Handoff,
  { scrubText }: Pick<Invocation["scrubber"], "scrubText">,
): Handoff {
  return { toAgentId: scrubText(toAgentId), ...(reason === undefined ? {} : { reason: scrubText(reason) }) };
}

/** The refusal of a task that does not fit the task schema of the agent; undefined for one that fits. */
function refusedTask({ agent, input }: Invocation): AgentAnswer | undefined {
  const { agentId, taskSchema } = agent;
  const [first] = taskSchema === undefined ? [] : compileSchema(taskSchema, "task schema")(input);
  if (first === undefined) return undefined;
  return failed("agent_task_invalid", `The task does not match the task schema of ${agentId}: ${problemText(first)}`);
}
