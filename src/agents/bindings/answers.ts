import { defined } from "../../protocol/defined.ts";
import type { AgentAnswer, AgentFailure, AgentFailureCode } from "../binding.ts";
import { usable } from "../usable-value.ts";

/** Failures that may pass at a further attempt; the others repeat. */
const RETRYABLE: ReadonlySet<AgentFailureCode> = new Set([
  "agent_unreachable",
  "agent_rate_limited",
  "agent_timeout",
  "agent_crashed",
]);

export function failed(code: AgentFailureCode, message: string, retryable = RETRYABLE.has(code)): AgentAnswer {
  return { type: "failed", error: { code, message, retryable } };
}

/** A failure with the kind of text that came instead of the output. */
export function failedWith(code: AgentFailureCode, message: string, instead: AgentFailure["instead"]): AgentAnswer {
  return { type: "failed", error: { code, message, retryable: false, ...defined({ instead }) } };
}

export function tooSlow(timeoutMs: number): AgentAnswer {
  return failed("agent_timeout", `no answer within ${timeoutMs} ms`);
}

/** The answer with this output, or why it cannot be one. */
export function withOutput(
  given: unknown,
  more: Omit<Extract<AgentAnswer, { type: "completed" }>, "type" | "output"> = {},
): AgentAnswer {
  const output = usable(given);
  if ("problem" in output) return failed("agent_output_invalid", `its output ${output.problem}`);
  return { type: "completed", output: output.value, ...more };
}
