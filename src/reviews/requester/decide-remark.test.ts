import { describe, expect, test } from "vitest";
import type { AppError } from "../../protocol/errors.ts";
import type { Conversation } from "./conversation.ts";
import { decideRemark, namedRemark } from "./decide-remark.ts";

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

const remarks = {
  shown: ["tone-02", "todo-mark.a1", "todo-mark.b2"],
  all: ["title-01", "tone-02", "todo-mark.a1", "todo-mark.b2", "7"],
};

test.each([
  ["todo-mark.a1", "todo-mark.a1"],
  ["1", "tone-02"],
  ["3", "todo-mark.b2"],
  ["todo-mark.b", "todo-mark.b2"],
  ["to-", undefined],
  ["ton", "tone-02"],
  ["ti", "title-01"],
  ["7", "7"],
])("%s names the remark %s", (named, id) => {
  const found = namedRemark(named, remarks);
  expect("id" in found ? found.id : undefined).toBe(id);
});

test("a beginning that several remarks share is refused with their ids", () => {
  expect(namedRemark("todo", remarks)).toEqual({
    problem: "todo could be todo-mark.a1 or todo-mark.b2; type more of it",
  });
});

test("an unknown name is refused with the numbers and the nearest id", () => {
  expect(namedRemark("tnoe-02", remarks)).toEqual({
    problem:
      "no remark of this review is called tnoe-02; name it by its id or the beginning of it, or by its number, 1 to 3. Did you mean tone-02?",
  });
  for (const number of ["0", "4", ""]) expect(namedRemark(number, remarks)).toHaveProperty("problem");
});
