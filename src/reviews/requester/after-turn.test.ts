import { describe, expect, test } from "vitest";
import { afterAnswer, decisionLines, stopAfterAnswer, stopBeforeSending } from "./after-turn.ts";
import type { Conversation } from "./conversation.ts";

const A = "add-a-goal-01";
const version = (iteration: number) => ({
  iteration,
  artifact_ref: `v${iteration}`,
  digest: `d${iteration}`,
  added: 0,
  removed: 0,
});
const conversation = {
  remarks: [{ id: A, aspect: "Aim", iterations: [1, 2] }],
  decisions: { [A]: { status: "accepted", iteration: 3, at: "then" } },
  artifacts: [version(1), version(2)],
  limits: { max_iterations: 5 },
  spent: { tokens: 0, cost: 0, ms: 0 },
} as unknown as Conversation;
const request = {
  protocol_version: "1.2",
  iteration: 3,
  artifact: { media_type: "text/plain", content: "", artifact_ref: "v3" },
  applied_feedback: { items: [{ id: A, status: "accepted" }] },
} as const;

test("a decision is logged with the version it was made on and the one it led to", () => {
  const [line] = decisionLines(conversation, request, [{ id: A, processing_status: "acknowledged" }]);
  expect(line).toEqual({
    time: "then",
    iteration: 3,
    id: A,
    aspect: "Aim",
    status: "accepted",
    reason_code: null,
    explanation: null,
    artifact_ref_before: "v2",
    artifact_ref_after: "v3",
    ack: "acknowledged",
  });
});

test("a remark that comes again without its aspect keeps the one it had", () => {
  const feedback = { positive_points: [], areas_for_improvement: [{ id: A }] };
  const about = { digest: "d3", added: 1, removed: 0, session_id: "s" };
  const { remarks } = afterAnswer(conversation, request, { status: "success", iteration: 3, feedback }, about);
  expect(remarks).toEqual([{ id: A, aspect: "Aim", iterations: [1, 2, 3] }]);
});

type Decided = Readonly<Record<string, [status: "accepted" | "rejected" | "partial", iteration: number]>>;

/** A conversation whose answers made these remarks. */
function standing(
  answers: readonly (readonly string[])[],
  decided: Decided = {},
  more: Partial<Conversation> = {},
): Conversation {
  const ids = [...new Set(answers.flat())];
  return {
    version: 1,
    review: "r",
    created_at: "",
    session_id: "s",
    directory: "/",
    command: { url: "u", agent: "a" },
    artifact: { path: "p", media_type: "text/plain" },
    next_iteration: answers.length + 1,
    remarks: ids.map((id) => ({ id, iterations: answers.flatMap((made, i) => (made.includes(id) ? [i + 1] : [])) })),
    decisions: Object.fromEntries(
      Object.entries(decided).map(([id, [status, iteration]]) => [id, { status, iteration, at: "" }]),
    ),
    artifacts: answers.map((_, i) => ({
      iteration: i + 1,
      artifact_ref: "",
      digest: `v${i + 1}`,
      added: 0,
      removed: 0,
    })),
    decisions_bytes: 0,
    decisions_from: 0,
    status: "open",
    reason: null,
    attempts: 1,
    spent: { tokens: 10, cost: 1, ms: 100 },
    limits: { max_iterations: 5 },
    options: {},
    ...more,
  };
}

const broke = { limits: { max_iterations: 5, max_tokens: 9 } };
const reasonOf = (conversation: Conversation) => stopAfterAnswer(conversation)?.reason;

describe("after an answer a conversation", () => {
  test.each<[string | undefined, string, Conversation]>([
    [undefined, "something new is said", standing([["a"], ["b"]], { a: ["accepted", 2] })],
    ["no_remarks", "nothing is said", standing([["a"], []], { a: ["accepted", 2] }, broke)],
    [
      "nothing_new",
      "all was accepted or rejected before",
      standing(
        [
          ["a", "b"],
          ["a", "b"],
        ],
        { a: ["accepted", 2], b: ["rejected", 2] },
      ),
    ],
    [undefined, "something was done in part before", standing([["a"], ["a"]], { a: ["partial", 2] })],
    [
      "max_iterations",
      "the last turn was taken",
      standing([["a"], ["b"]], { a: ["accepted", 2] }, { limits: { max_iterations: 2 } }),
    ],
    [
      "all_rejected",
      "two turns were rejected",
      standing([["a"], ["b"], ["c"]], { a: ["rejected", 2], b: ["rejected", 3] }),
    ],
    [undefined, "one turn was rejected", standing([["a"], ["b"]], { a: ["rejected", 2] })],
    [
      undefined,
      "one remark of two turns was not rejected",
      standing([["a", "d"], ["b"], ["c"]], { a: ["rejected", 2], b: ["rejected", 3], d: ["partial", 2] }),
    ],
    ["budget", "too many tokens were taken", standing([["a"]], {}, broke)],
    ["budget", "it cost too much", standing([["a"]], {}, { limits: { max_iterations: 5, max_cost: 0.5 } })],
    ["budget", "it took too long", standing([["a"]], {}, { limits: { max_iterations: 5, max_ms: 99 } })],
    [
      undefined,
      "the budget is just met",
      standing([["a"]], {}, { limits: { max_iterations: 5, max_tokens: 10, max_cost: 1, max_ms: 100 } }),
    ],
  ])("ends with %s when %s", (reason, _, conversation) => {
    expect(reasonOf(conversation)).toBe(reason);
  });

  test("goes on until the last of its turns is answered", () => {
    const limits = { max_iterations: 2 };
    expect(reasonOf(standing([["a"]], {}, { limits }))).toBeUndefined();
    expect(reasonOf(standing([["a"], ["b"]], { a: ["accepted", 2] }, { limits }))).toBe("max_iterations");
  });

  test("ends for the first reason that applies, and by agreement only for the first two", () => {
    const limits = { max_iterations: 1, max_tokens: 1 };
    expect(stopAfterAnswer(standing([[]], {}, { limits }))).toEqual({ status: "converged", reason: "no_remarks" });
    expect(stopAfterAnswer(standing([["a"], ["a"]], { a: ["rejected", 2] }, { limits }))).toEqual({
      status: "converged",
      reason: "nothing_new",
    });
    const rejected = { a: ["rejected", 2], b: ["rejected", 3] } as const;
    expect(
      stopAfterAnswer(standing([["a"], ["b"], ["c"]], { a: [...rejected.a], b: [...rejected.b] }, { limits })),
    ).toEqual({ status: "stopped", reason: "max_iterations" });
    expect(reasonOf(standing([["a"], ["b"], ["c"]], { a: [...rejected.a], b: [...rejected.b] }, broke))).toBe(
      "all_rejected",
    );
  });
});

describe("before a turn a conversation", () => {
  test("ends when the work is unchanged and everything was rejected", () => {
    expect(stopBeforeSending(standing([["a"]], { a: ["rejected", 2] }), "v1")).toEqual({
      status: "stopped",
      reason: "unchanged",
    });
    expect(stopBeforeSending(standing([["a"]], { a: ["accepted", 2] }), "v1")).toBeUndefined();
    expect(stopBeforeSending(standing([["a"]], { a: ["rejected", 2] }), "v2")).toBeUndefined();
  });

  test("ends when the work is back at a version before the last", () => {
    expect(stopBeforeSending(standing([["a"], ["b"]], { b: ["accepted", 3] }), "v1")).toEqual({
      status: "stopped",
      reason: "oscillation",
    });
    expect(stopBeforeSending(standing([["a"], ["b"]], { b: ["accepted", 3] }), "v3")).toBeUndefined();
  });
});
