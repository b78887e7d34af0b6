import type { TurnOutcome } from "../../formats/reviews/outcome.ts";

export interface Retries {
  /** The wait before each further attempt; their number is the number of further attempts. */
  readonly waitsMs: readonly number[];
  /** From 0 to 1; extends a wait by up to a quarter, so that many failed requests are not repeated together. */
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

/** Errors that repeat, whatever their own flag is. */
const FINAL_ERRORS: ReadonlySet<string> = new Set(["ContextOverflowError", "ContentFilterError"]);

/** Whether the same request may fare better another time. */
export function isWorthAnother({ outcome, errorCode, toolError }: TurnOutcome): boolean {
  if (outcome === "response_error") return errorCode === "INTERNAL_ERROR";
  if (outcome === "tool_error") return toolError?.isRetryable !== false && !FINAL_ERRORS.has(toolError?.name ?? "");
  return WORTH_ANOTHER.has(outcome);
}

/** The wait before another attempt; undefined when there is none. */
export function waitBefore(outcome: TurnOutcome, attempt: number, { waitsMs, random }: Retries): number | undefined {
  const wait = isWorthAnother(outcome) ? waitsMs[attempt - 1] : undefined;
  return wait === undefined ? undefined : Math.round(wait * (1 + STRETCH * random()));
}
