import type { AgentAnswer, AgentFailure, AgentFailureCode } from "../binding.ts";

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
  return { type: "failed", error: { code, message, retryable: false, ...(instead === undefined ? {} : { instead }) } };
}

export function tooSlow(timeoutMs: number): AgentAnswer {
  return failed("agent_timeout", `no answer within ${timeoutMs} ms`);
}
