import { describe, expect, test } from "vitest";
import { type Ending, type Question, TurnReader } from "./outcome.ts";

const answer = (mark: string, more: object = {}) =>
  JSON.stringify({
    protocol_version: "1.2",
    iteration: 1,
    status: "success",
    feedback: {
      confidence: { level: "low", justification: "" },
      positive_points: [],
      areas_for_improvement: [],
      general_summary: mark,
    },
    ...more,
  });
const message = (type: string, part: object = {}, more: object = {}) => ({
  type,
  sessionID: "s",
  part: { messageID: "m", ...part },
  ...more,
});
const text = (content: string, part: object = {}) => message("text", { text: content, ...part });
const begun = message("step_start");
const done = (reason?: string, part: object = {}) => message("step_finish", { reason, ...part });
const odd = { type: "news" };
const error = (name: string, data: object = {}) => ({ type: "error", sessionID: "s", error: { name, data } });

const CLEAN: Ending = { exitCode: 0, stderr: "" };

function outcomeOf(
  messages: readonly object[],
  ending: Partial<Ending> = {},
  question: Partial<Question> = {},
  rest = "",
) {
  const reader = new TurnReader({ iteration: 1, ...question });
  reader.take(new TextEncoder().encode(messages.map((one) => `${JSON.stringify(one)}\n`).join("") + rest));
  return { ...reader.end({ ...CLEAN, ...ending }), answered: reader.answered, spent: reader.spent };
}

const summaryOf = ({ response }: ReturnType<typeof outcomeOf>) =>
  response?.status === "success" ? response.feedback.general_summary : undefined;

describe("of several answers", () => {
  test("one in a final message comes before one on the way", () => {
    const outcome = outcomeOf([
      text(answer("on the way"), { messageID: "m1" }),
      done("tool-calls", { messageID: "m1" }),
      text(answer("final"), { messageID: "m2" }),
      done("stop", { messageID: "m2" }),
    ]);
    expect(summaryOf(outcome)).toBe("final");
    expect(outcome.warnings).toEqual(["several_answers"]);
  });

  test.each(["tool-calls", "unknown"])("one whose message ended with %s was on the way", (reason) => {
    const outcome = outcomeOf([
      text(answer("on the way"), { messageID: "m1" }),
      done(reason, { messageID: "m1" }),
      text(answer("final"), { messageID: "m2" }),
    ]);
    expect(summaryOf(outcome)).toBe("final");
  });

  test("the earlier message counts, as its first sign of life says", () => {
    const outcome = outcomeOf([
      message("step_start", { messageID: "m1" }),
      text(answer("second"), { messageID: "m2" }),
      text(answer("first"), { messageID: "m1" }),
      done("stop", { messageID: "m1" }),
      done("stop", { messageID: "m2" }),
    ]);
    expect(summaryOf(outcome)).toBe("first");
  });

  test("the earlier message counts, also when the later one is more direct", () => {
    const outcome = outcomeOf([
      text(`so: ${answer("first")}`, { messageID: "m1" }),
      done("stop", { messageID: "m1" }),
      text(answer("second"), { messageID: "m2" }),
      done("stop", { messageID: "m2" }),
    ]);
    expect(summaryOf(outcome)).toBe("first");
  });

  test("within a message the more direct form counts, then the later text", () => {
    expect(summaryOf(outcomeOf([begun, text(answer("direct")), text(`so: ${answer("embedded")}`), done()]))).toBe(
      "direct",
    );
    expect(summaryOf(outcomeOf([begun, text(answer("draft")), text(answer("last")), done()]))).toBe("last");
  });

  test("one with hard problems does not count", () => {
    const outcome = outcomeOf([begun, text(answer("bad", { iteration: 2 })), text(answer("good")), done()]);
    expect(summaryOf(outcome)).toBe("good");
    expect(outcome.warnings).toEqual([]);
  });
});

describe("an answer", () => {
  test("may be split, and is joined only when no part is one", () => {
    const whole = answer("x");
    const split = [begun, text(whole.slice(0, 30)), text(whole.slice(30)), done()];
    expect(outcomeOf(split)).toMatchObject({ outcome: "response_success", warnings: ["joined"] });
  });

  test("is not what comes after a made-up prompt", () => {
    const made = text("Go on.", { synthetic: true });
    expect(
      outcomeOf([
        begun,
        text(answer("x")),
        done(),
        made,
        text(answer("y"), { messageID: "m2" }),
        done("stop", { messageID: "m2" }),
      ]),
    ).toMatchObject({
      outcome: "response_success",
      warnings: ["synthetic_text", "text_after_continuation"],
      response: { feedback: { general_summary: "x" } },
    });
  });

  test("is also what somebody marks in a way that means nothing", () => {
    const outcome = outcomeOf([begun, text(answer("x"), { synthetic: "true" }), done()]);
    expect(outcome).toMatchObject({ outcome: "response_success", warnings: [] });
  });

  test("counts whatever happened around it, with a note", () => {
    const messages = [error("APIError"), text(answer("x"))];
    const outcome = outcomeOf(messages, { exitCode: 1 }, {}, '{"type":"te');
    expect(outcome).toMatchObject({
      outcome: "response_success",
      warnings: ["cut_line", "error_message", "no_step_finish", "nonzero_exit"],
    });
    expect(outcomeOf(messages.slice(1), { exitCode: null, signal: "SIGKILL" }).warnings).toEqual([
      "forced_stop",
      "no_step_finish",
    ]);
  });

  test.each<[string, object[], Partial<Ending>, string]>([
    ["a failed command", [begun, text(answer("x")), done()], { exitCode: 1 }, "tool_failed"],
    ["an error", [error("APIError"), begun, text(answer("x")), done()], {}, "tool_error"],
    ["a step without an end", [text(answer("x"))], {}, "stream_cut"],
  ])("of %s does not count for those who want a clean one", (_, messages, ending, outcome) => {
    expect(outcomeOf(messages, ending, { requireCleanExit: true })).toMatchObject({ outcome, ids: [] });
    expect(outcomeOf(messages, ending).outcome).toBe("response_success");
  });

  test("is known to be there as soon as its step has ended, and not before", () => {
    expect(outcomeOf([begun, text(answer("x"))]).answered).toBe(false);
    expect(outcomeOf([begun, text(answer("x")), done("tool-calls")]).answered).toBe(false);
    expect(outcomeOf([begun, text("no"), done("stop")]).answered).toBe(false);
    expect(outcomeOf([begun, text(answer("x")), done("stop")]).answered).toBe(true);
    expect(outcomeOf([begun, done("unknown"), text(answer("x")), done("stop")]).answered).toBe(true);
    const later = [text("more", { messageID: "m2" }), done("stop", { messageID: "m2" })];
    expect(outcomeOf([begun, text(answer("x")), done("stop"), ...later]).answered).toBe(true);
  });
});

describe("the session", () => {
  test("is that of the first message that has one, also of an error", () => {
    expect(outcomeOf([{ type: "step_start" }, error("X")]).sessionID).toBe("s");
  });

  test.each<[string, object[], Partial<Question>]>([
    ["two messages disagree", [begun, text(answer("x")), { ...done(), sessionID: "other" }, odd], {}],
    ["another than the one named comes back", [begun, odd, text(answer("x")), done()], { session: "mine" }],
  ])("when %s makes the answer useless", (_, messages, question) => {
    expect(outcomeOf(messages, {}, question)).toMatchObject({ outcome: "session_mismatch", ids: [], warnings: [] });
    expect(outcomeOf(messages, {}, question).response).toBeUndefined();
  });
});

describe("without an answer the first that fits is", () => {
  const fallback = { stderr: '! agent "x" not found. Falling back to default agent' };
  test.each<[string, object[], Partial<Ending>, object]>([
    [
      "wrong_agent, even with an answer",
      [begun, odd, text(answer("x")), done()],
      fallback,
      { outcome: "wrong_agent", warnings: [] },
    ],
    [
      "timeout",
      [begun, error("X"), text("no")],
      { limited: true, exitCode: null },
      { outcome: "timeout", warnings: ["error_message"] },
    ],
    [
      "tool_error",
      [begun, error("X", { message: "m", isRetryable: true })],
      {},
      { outcome: "tool_error", toolError: { name: "X", message: "m", isRetryable: true } },
    ],
    ["stream_cut", [begun, text("no")], {}, { outcome: "stream_cut" }],
    [
      "stream_cut, also of a message with an empty name",
      [message("step_start", { messageID: "" }), message("step_finish", { messageID: undefined })],
      {},
      { outcome: "stream_cut" },
    ],
    [
      "no_answer, of a step that names no message",
      [message("step_start", { messageID: 7 })],
      {},
      { outcome: "no_answer" },
    ],
    [
      "invalid_answer",
      [begun, text("{}"), text('{"iteration":1}'), done()],
      {},
      { outcome: "invalid_answer", problems: ["protocol_version", "status"] },
    ],
    [
      "unparseable_answer",
      [begun, text("half"), done("length")],
      {},
      { outcome: "unparseable_answer", reason: "length" },
    ],
    ["session_not_found", [], { exitCode: 1, stderr: "error: SESSION NOT FOUND" }, { outcome: "session_not_found" }],
    ["tool_failed", [begun, done()], { exitCode: 1, stderr: "session not found" }, { outcome: "tool_failed" }],
    ["no_answer", [begun, text(" "), done()], {}, { outcome: "no_answer" }],
  ])("%s", (_, messages, ending, expected) => {
    expect(outcomeOf(messages, ending)).toMatchObject(expected);
  });

  test("none of the agent when another one was allowed", () => {
    expect(outcomeOf([begun, text(answer("x")), done()], fallback, { allowOtherAgent: true }).outcome).toBe(
      "response_success",
    );
  });
});

test("what all steps took is added up, with or without a total", () => {
  const parts = { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } };
  const steps = [
    done("stop", { tokens: { total: 10, ...parts }, cost: 0.5 }),
    done("unknown", { tokens: parts, cost: 0.25 }),
  ];
  expect(outcomeOf([...steps, done("stop", { tokens: "many", cost: -1 })]).spent).toEqual({ tokens: 25, cost: 0.75 });
});
