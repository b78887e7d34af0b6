import { expect, test } from "vitest";
import type { DecisionLine } from "./after-turn.ts";
import type { Conversation } from "./conversation.ts";
import { reviewedConversation, reviewerOf } from "./reviews-folder.ts";

const conversation = {
  review: "r",
  command: { url: "http://peer", agent: "a" },
  status: "open",
  remarks: [
    { id: "a", aspect: "Aim", iterations: [1, 2] },
    { id: "b", iterations: [2] },
  ],
  artifacts: [
    { iteration: 1, digest: "d1" },
    { iteration: 2, digest: "d2" },
  ],
} as unknown as Conversation;

test("figures are made of the answers, the decisions with their reasons, and the versions", () => {
  const line = { iteration: 2, id: "a", status: "rejected", reason_code: "deferred", ack: "acknowledged" };
  const lines = [line, { ...line, reason_code: null }] as DecisionLine[];
  const { answers, decisions, artifacts } = reviewedConversation(conversation, lines);
  expect(answers.map(({ remarks }) => remarks.map(({ id }) => id))).toEqual([["a"], ["a", "b"]]);
  expect(decisions.map(({ reason_code }) => reason_code)).toEqual(["deferred", undefined]);
  expect(artifacts).toEqual(["d1", "d2"]);
});

test.each([
  ["a at http://peer", { url: "http://peer", agent: "a" }],
  ["a", { program: "opencode", args: ["run"], agent: "a", takes_directory: true }],
  ["a of ./peer --fast", { program: "./peer", args: ["--fast"], agent: "a", takes_directory: false }],
])("a reviewer is called %s", (name, provider) => {
  expect(reviewerOf(provider)).toBe(name);
});
