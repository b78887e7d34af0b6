import { describe, expect, test } from "vitest";
import type { AppError } from "../../protocol/errors.ts";
import type { Conversation } from "./conversation.ts";
import { decideRemark } from "./decide-remark.ts";

const A = "add-a-goal-01";
const conversation = {
  review: "r",
  next_iteration: 2,
  remarks: [{ id: A, iterations: [1] }],
  decisions: {},
} as unknown as Conversation;

function decided(decision: object, before = conversation) {
  try {
    return decideRemark(before, { id: A, status: "accepted", ...decision }, "now").decisions;
  } catch (error) {
    return (error as AppError).code;
  }
}

describe("a decision", () => {
  test.each([
    { status: "accepted" },
    { status: "rejected", reason_code: "deferred" },
    { status: "rejected", explanation: "Not now." },
    { status: "partial", explanation: "Half of it." },
  ])("that is %j says enough", (decision) => {
    expect(decided(decision)).toEqual({ [A]: { ...decision, iteration: 2, at: "now" } });
  });

  test.each([
    { status: "rejected" },
    { status: "rejected", reason_code: "", explanation: "" },
    { status: "partial" },
    { status: "partial", reason_code: "deferred" },
    { id: "never-made-01" },
  ])("that is %j is refused", (decision) => {
    expect(decided(decision)).toBe("review_decision_refused");
  });

  test("replaces the one before it", () => {
    const before = decideRemark(conversation, { id: A, status: "rejected", reason_code: "deferred" }, "before");
    expect(decided({ status: "accepted" }, before)).toEqual({ [A]: { status: "accepted", iteration: 2, at: "now" } });
  });
});
