import { compileSchema } from "../engine/schemas/decide/json-schema.ts";
import type { AgentAnswer, AgentFailure } from "./binding.ts";
import type { Invocation, Invoked } from "./invocation.ts";

/** The outcome of an answer. */
export type AssessedAnswer = Pick<
  Invoked,
  "outcome" | "output" | "failure" | "refusal" | "handoff" | "confidence" | "schemaValid"
>;

type Handoff = NonNullable<Invoked["handoff"]>;

/** Assesses an answer by the return schema and the confidence threshold of the agent. */
export function assessAnswer({ agent, threshold, scrubber }: Invocation, answer: AgentAnswer): AssessedAnswer {
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
    ...(handoff === undefined ? {} : { handoff: cleanHandoff(handoff, scrubber) }),
    ...(confidence === undefined ? {} : { confidence }),
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
export function refusedTask({ agent, input }: Invocation): AgentAnswer | undefined {
  const { agentId, taskSchema } = agent;
  const problems = taskSchema === undefined ? [] : compileSchema(taskSchema, "task schema")(input);
  if (problems.length === 0) return undefined;
  const message = `The task is not one that ${agentId} takes: ${first(problems)}`;
  return { type: "failed", error: failure("agent_task_invalid", message) };
}

function failure(code: AgentFailure["code"], message: string): AgentFailure {
  return { code, message, retryable: false };
}

function first(problems: readonly { readonly path: string; readonly problem: string }[]): string {
  const { path = "", problem = "does not match" } = problems[0] ?? {};
  return `${path === "" ? "it" : path} ${problem}`;
}
