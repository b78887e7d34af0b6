import { describe, expect, test } from "vitest";
import type { TurnOutcome } from "../../formats/reviews/outcome.ts";
import { isWorthAnother, waitBefore } from "./take-turn.ts";

const outcome = (name: TurnOutcome["outcome"], more: Partial<TurnOutcome> = {}): TurnOutcome => ({
  outcome: name,
  ids: [],
  problems: [],
  warnings: [],
  ...more,
});

describe("another attempt", () => {
  test.each<TurnOutcome>([
    outcome("timeout"),
    outcome("stream_cut"),
    outcome("no_answer"),
    outcome("unparseable_answer"),
    outcome("invalid_answer"),
    outcome("tool_failed"),
    outcome("response_error", { errorCode: "INTERNAL_ERROR" }),
    outcome("tool_error", { toolError: { name: "APIError", isRetryable: true } }),
    outcome("tool_error", { toolError: { name: "UnknownError" } }),
  ])("is worth it after $outcome", (one) => expect(isWorthAnother(one)).toBe(true));

  test.each<TurnOutcome>([
    outcome("response_success"),
    outcome("response_error", { errorCode: "INVALID_REQUEST" }),
    outcome("response_error", { errorCode: "TIRED" }),
    outcome("spawn_failed"),
    outcome("session_mismatch"),
    outcome("wrong_agent"),
    outcome("session_not_found"),
    outcome("tool_error", { toolError: { name: "APIError", isRetryable: false } }),
    outcome("tool_error", { toolError: { name: "ContextOverflowError", isRetryable: true } }),
    outcome("tool_error", { toolError: { name: "ContentFilterError" } }),
  ])("is not worth it after $outcome $errorCode $toolError.name", (one) => expect(isWorthAnother(one)).toBe(false));

  test("waits longer each time, stretched by up to a quarter, and comes to an end", () => {
    const waits = (random: number) =>
      [1, 2, 3].map((n) => waitBefore(outcome("timeout"), n, { waitsMs: [1000, 4000], random: () => random }));
    expect(waits(0)).toEqual([1000, 4000, undefined]);
    expect(waits(1)).toEqual([1250, 5000, undefined]);
  });
});
