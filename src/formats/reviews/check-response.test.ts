import { describe, expect, test } from "vitest";
import { checkResponse } from "./check-response.ts";

const remark = { id: "add-a-goal-01", aspect: "Aim", description: "None.", recommendation: "Say it." };
const feedback = {
  confidence: { level: "high", justification: "Plain." },
  positive_points: [{ aspect: "Form", justification: "Short." }],
  areas_for_improvement: [remark],
  general_summary: "Good.",
};
const success = { protocol_version: "1.2", iteration: 1, status: "success", feedback };
const failure = {
  protocol_version: "1.2",
  iteration: 1,
  status: "error",
  error: { code: "INTERNAL_ERROR", message: "No." },
};
const without = (object: object, name: string) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

describe("an answer cannot be used", () => {
  test.each<[string, unknown, string[]]>([
    ["that is no object", [], ["not_object"]],
    ["of another version", { ...success, protocol_version: 1.2 }, ["protocol_version"]],
    ["without an iteration", without(success, "iteration"), ["iteration"]],
    ["whose iteration is a text", { ...success, iteration: "1" }, ["iteration"]],
    ["to another turn", { ...success, iteration: 2 }, ["iteration_mismatch"]],
    ["of no known status", { ...success, status: "ok" }, ["status"]],
    ["without feedback", without(success, "feedback"), ["feedback"]],
    [
      "whose remarks are no list",
      { ...success, feedback: { ...feedback, areas_for_improvement: {} } },
      ["areas_for_improvement"],
    ],
    ["that fails without a code", { ...failure, error: { code: "" } }, ["error"]],
    ["with several faults", { iteration: 0, status: "error" }, ["protocol_version", "iteration", "error"]],
    ["that inherits what it lacks", Object.create(success), ["protocol_version", "iteration", "status"]],
  ])("%s", (_, value, problems) => {
    expect(checkResponse(value, { iteration: 1 })).toEqual({ problems, warnings: [] });
  });
});

const flaws: [string, unknown, string[], string[]?][] = [
  [
    "confidence that is none",
    { ...success, feedback: { ...feedback, confidence: { level: "sure", justification: "" } } },
    ["confidence"],
  ],
  ["no points", { ...success, feedback: without(feedback, "positive_points") }, ["positive_points"]],
  ["half a point", { ...success, feedback: { ...feedback, positive_points: [{ aspect: "x" }] } }, ["positive_points"]],
  ["no summary", { ...success, feedback: without(feedback, "general_summary") }, ["general_summary"]],
  [
    "half a remark",
    { ...success, feedback: { ...feedback, areas_for_improvement: [without(remark, "aspect")] } },
    ["area_field"],
  ],
  [
    "a remark without id",
    { ...success, feedback: { ...feedback, areas_for_improvement: [{ ...remark, id: "" }, 7] } },
    ["area_without_id"],
  ],
  [
    "the same id twice",
    { ...success, feedback: { ...feedback, areas_for_improvement: [remark, remark] } },
    ["duplicate_id"],
  ],
  [
    "an odd id",
    { ...success, feedback: { ...feedback, areas_for_improvement: [{ ...remark, id: "Odd" }] } },
    ["id_pattern"],
  ],
  ["an unknown name", { ...success, extra: 1 }, ["unknown_field"]],
  [
    "an unknown name deep inside",
    { ...success, feedback: { ...feedback, areas_for_improvement: [{ ...remark, extra: 1 }] } },
    ["unknown_field"],
  ],
  ["a session", { ...success, "x-Session_ID": "s" }, ["session_field"]],
  ["an error beside success", { ...success, error: {} }, ["error_with_success"]],
  ["feedback beside an error", { ...failure, feedback }, ["feedback_with_error"]],
  ["an error without words", { ...failure, error: { code: "INTERNAL_ERROR" } }, ["error_message_field"]],
  ["no receipt", success, ["ack_missing"], ["a"]],
  ["a receipt that nobody asked for", { ...success, applied_feedback_ack: { items: [] } }, ["ack_unasked"]],
  ["a receipt that is none", { ...success, applied_feedback_ack: [] }, ["ack_malformed"], ["a"]],
];

describe("an answer with a small fault", () => {
  test.each(flaws)("such as %s is used with a warning", (_, value, warnings, sentIds) => {
    const asked = { iteration: 1, ...(sentIds === undefined ? {} : { sentIds }) };
    const checked = checkResponse(value, asked);
    expect({ problems: checked.problems, warnings: checked.warnings }).toEqual({ problems: [], warnings });
    expect(checked.response).toBeDefined();
  });

  test.each(flaws)("such as %s is not used by those who are strict", (_, value, problems, sentIds) => {
    const asked = { iteration: 1, strict: true, ...(sentIds === undefined ? {} : { sentIds }) };
    expect(checkResponse(value, asked)).toEqual({ problems, warnings: [] });
  });

  test("of an unknown code is used even then", () => {
    const value = { ...failure, error: { code: "TIRED", message: "" } };
    expect(checkResponse(value, { iteration: 1, strict: true })).toMatchObject({
      problems: [],
      warnings: ["unknown_error_code"],
    });
  });
});

describe("a receipt", () => {
  const receipt = (...items: object[]) => ({ ...success, applied_feedback_ack: { items } });
  const yes = (id: string) => ({ id, processing_status: "acknowledged" });

  test("is missed only where there were decisions", () => {
    expect(checkResponse(success, { iteration: 1, sentIds: [] }).warnings).toEqual([]);
    expect(checkResponse(failure, { iteration: 1, sentIds: ["a"] }).warnings).toEqual([]);
  });

  test("that nobody asked for acknowledges nothing", () => {
    const { warnings, response } = checkResponse(receipt(yes("a")), { iteration: 1 });
    expect(warnings).toEqual(["ack_unasked"]);
    expect(response?.acknowledged).toEqual([]);
  });

  test("may be in any order, and equal ids are matched one to one", () => {
    const { warnings, response } = checkResponse(receipt(yes("b"), yes("a"), yes("a")), {
      iteration: 1,
      sentIds: ["a", "b", "a"],
    });
    expect(warnings).toEqual([]);
    expect(response?.acknowledged).toHaveLength(3);
  });

  test("that lacks some, has others and is broken in places gives what is usable", () => {
    const value = receipt(yes("a"), yes("a"), yes("c"), { id: "b" }, null as unknown as object);
    const { warnings, response } = checkResponse(value, { iteration: 1, sentIds: ["a", "b"] });
    expect(warnings).toEqual(["ack_extra", "ack_incomplete", "ack_malformed"]);
    expect(response?.acknowledged).toEqual([yes("a")]);
  });
});

test("extensions are kept, sessions never", () => {
  const marked = { ...remark, "x-reopened": true, "x-session": "s" };
  const value = {
    ...success,
    "x-warnings": [],
    sessionID: "s",
    feedback: { ...feedback, areas_for_improvement: [marked] },
  };
  const { response } = checkResponse(value, { iteration: 1 });
  expect(response).toEqual({
    status: "success",
    iteration: 1,
    feedback: { ...feedback, areas_for_improvement: [{ ...remark, "x-reopened": true }] },
    extensions: { "x-warnings": [] },
  });
});
