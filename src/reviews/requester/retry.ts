import type { TurnOutcome } from "../../formats/reviews/outcome.ts";

export interface Retries {
  /** Before each further attempt; as many as there are. */
  readonly waitsMs: readonly number[];
  /** From 0 to 1; stretches a wait by up to a quarter, so that many who failed together do not return together. */
  readonly random: () => number;
}

export const DEFAULT_WAITS_MS: readonly number[] = [1_000, 4_000];
const STRETCH = 0.25;

const WORTH_ANOTHER: ReadonlySet<TurnOutcome["outcome"]> = new Set([
  "timeout",
  "stream_cut",
  "no_answer",
  "unparseable_answer",
  "invalid_answer",
  "tool_failed",
]);

/** It would fail the same way again, whatever it says about itself. */
const FINAL_ERRORS: ReadonlySet<string> = new Set(["ContextOverflowError", "ContentFilterError"]);

/** Whether the same request may fare better another time. */
export function isWorthAnother({ outcome, errorCode, toolError }: TurnOutcome): boolean {
  if (outcome === "response_error") return errorCode === "INTERNAL_ERROR";
  if (outcome === "tool_error") return toolError?.isRetryable !== false && !FINAL_ERRORS.has(toolError?.name ?? "");
  return WORTH_ANOTHER.has(outcome);
}

/** How long to wait before another attempt; undefined when there is none. */
export function waitBefore(outcome: TurnOutcome, attempt: number, { waitsMs, random }: Retries): number | undefined {
  const wait = isWorthAnother(outcome) ? waitsMs[attempt - 1] : undefined;
  return wait === undefined ? undefined : Math.round(wait * (1 + STRETCH * random()));
}
