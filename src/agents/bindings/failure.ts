import type { AgentAnswer, AgentFailureCode } from "../binding.ts";

/** What may go well another time; the rest fails the same way again. */
const RETRYABLE: ReadonlySet<AgentFailureCode> = new Set([
  "agent_unreachable",
  "agent_rate_limited",
  "agent_timeout",
  "agent_crashed",
]);

export function failed(code: AgentFailureCode, message: string, retryable = RETRYABLE.has(code)): AgentAnswer {
  return { type: "failed", error: { code, message, retryable } };
}

export function tooSlow(timeoutMs: number): AgentAnswer {
  return failed("agent_timeout", `no answer within ${timeoutMs} ms`);
}
