import { expect, test } from "vitest";
import { afterAnswer, decisionLines } from "./after-turn.ts";
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
