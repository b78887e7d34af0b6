import { expect, test } from "vitest";
import { type Conversation, nextRequest, undecided } from "./conversation.ts";

const conversation = {
  next_iteration: 3,
  remarks: [
    { id: "a", iterations: [1] },
    { id: "b", iterations: [1, 2] },
    { id: "c", iterations: [2] },
  ],
  decisions: {
    a: { status: "accepted", iteration: 2, at: "" },
    b: { status: "rejected", reason_code: "deferred", iteration: 3, at: "" },
  },
} as unknown as Conversation;
const artifact = { media_type: "text/plain", content: "x", artifact_ref: "v" };

test("a request carries the decisions since the last answer, and none that were sent before", () => {
  expect(nextRequest(conversation, artifact)).toEqual({
    protocol_version: "1.2",
    iteration: 3,
    artifact,
    applied_feedback: { items: [{ id: "b", status: "rejected", reason_code: "deferred" }] },
  });
});

test("the first request has no decisions", () => {
  expect(nextRequest({ ...conversation, next_iteration: 1 }, artifact).applied_feedback).toBeUndefined();
});

test("remarks of the last answer want a decision each, also those that were decided on before", () => {
  expect(undecided(conversation)).toEqual(["c"]);
  expect(undecided({ ...conversation, decisions: {} })).toEqual(["b", "c"]);
});
