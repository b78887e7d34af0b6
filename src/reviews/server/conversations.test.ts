import { expect, test } from "vitest";
import { conversationsOf } from "./conversations.ts";
import type { ReviewRound } from "./review-round.ts";

const round = (more: Partial<ReviewRound>): ReviewRound => ({
  conversation: 1,
  iteration: 1,
  outcome: "success",
  agent: "a",
  by: "p",
  decisions: [],
  remarks: [],
  ...more,
});

test("a round that could not be reviewed is no answer, but what was decided in it counts", () => {
  const decision = { id: "add-a-goal-01", status: "accepted", processing_status: "acknowledged" } as const;
  const failed = round({ iteration: 2, outcome: "error", decisions: [decision] });
  const [conversation] = conversationsOf("s", [round({}), failed]);
  expect(conversation?.answers.map(({ iteration }) => iteration)).toEqual([1]);
  expect(conversation?.artifacts).toHaveLength(1);
  expect(conversation?.decisions).toMatchObject([{ id: "add-a-goal-01", iteration: 2, ack: "acknowledged" }]);
});
