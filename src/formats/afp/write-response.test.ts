import { expect, test } from "vitest";
import { checkResponse } from "./check-response.ts";
import { responseOnWire } from "./write-response.ts";

test.each([
  {
    protocol_version: "1.2",
    iteration: 2,
    status: "success",
    feedback: {
      confidence: { level: "high", justification: "Plain." },
      positive_points: [],
      areas_for_improvement: [
        { id: "add-a-goal-01", aspect: "a", description: "b", recommendation: "c", "x-reopened": true },
      ],
      general_summary: "Good.",
    },
    applied_feedback_ack: { items: [{ id: "a", processing_status: "unknown_id" }] },
    "x-warnings": [{ code: "iteration_gap", message: "m" }],
  },
  { protocol_version: "1.2", iteration: 2, status: "error", error: { code: "INTERNAL_ERROR", message: "No." } },
])("a $status answer without faults is written as it was read", (answer) => {
  const { response } = checkResponse(answer, { iteration: 2, sentIds: ["a"] });
  expect(response && responseOnWire(response)).toEqual(answer);
});
