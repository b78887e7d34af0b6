import { expect, test } from "vitest";
import { checkResponse } from "./check-response.ts";
import { responseOnWire } from "./response.ts";

test.each([
  {
    protocol_version: "1.2",
    iteration: 2,
    status: "success",
    feedback: {
      confidence: { level: "high", justification: "Plain.", "x-score": 0.9 },
      positive_points: [{ aspect: "a", justification: "b", "x-weight": 2 }],
      areas_for_improvement: [
        { id: "add-a-goal-01", aspect: "a", description: "b", recommendation: "c", "x-reopened": true },
      ],
      general_summary: "Good.",
      "x-took-ms": 12,
    },
    applied_feedback_ack: { items: [{ id: "a", processing_status: "unknown_id", "x-why": { turn: 1 } }] },
    "x-warnings": [{ code: "iteration_gap", message: "m" }],
  },
  {
    protocol_version: "1.2",
    iteration: 2,
    status: "error",
    error: { code: "INTERNAL_ERROR", message: "No.", "x-retry-after": 3 },
  },
])("a $status answer without faults is written as it was read", (answer) => {
  const { response } = checkResponse(answer, { iteration: 2, sentIds: ["a"] });
  expect(response && responseOnWire(response)).toEqual(answer);
});

test("a name that means a session is no extension, wherever it stands", () => {
  const leak = { "x-session-id": "ses_1" };
  const answer = {
    protocol_version: "1.2",
    iteration: 1,
    status: "success",
    feedback: {
      confidence: { level: "high", justification: "Plain.", ...leak },
      positive_points: [{ aspect: "a", justification: "b", ...leak }],
      areas_for_improvement: [{ id: "add-a-goal-01", aspect: "a", description: "b", recommendation: "c", ...leak }],
      general_summary: "Good.",
      ...leak,
    },
    applied_feedback_ack: { items: [{ id: "a", processing_status: "unknown_id", ...leak }] },
    ...leak,
  };
  const { response, warnings } = checkResponse(answer, { iteration: 1, sentIds: ["a"] });
  expect(warnings).toEqual(["session_field"]);
  expect(JSON.stringify(response)).not.toContain("ses_1");
});
