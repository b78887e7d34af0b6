import { expect, test } from "vitest";
import { answerStream, errorLine } from "./write-stream.ts";

const ids = { sessionID: "ses_1", messageID: "msg_1", partIDs: ["prt_1", "prt_2", "prt_3"] } as const;

function messages(stream: string) {
  const lines = stream.split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => JSON.parse(line));
}

test("an answer is three lines of one message, of which the second carries it whole", () => {
  const answer = JSON.stringify({ text: "line\u2028separator \ud83d\ude00", more: "x".repeat(100_000) });
  const [start, text, finish, ...rest] = messages(answerStream(answer, ids, 17, { input: 2, output: 3, cost: 0.5 }));
  const common = { messageID: "msg_1", sessionID: "ses_1" };
  const outer = { timestamp: 17, sessionID: "ses_1" };
  expect(rest).toEqual([]);
  expect(start).toEqual({ ...outer, type: "step_start", part: { ...common, id: "prt_1", type: "step-start" } });
  expect(text).toEqual({
    ...outer,
    type: "text",
    part: { ...common, id: "prt_2", type: "text", text: answer, time: { start: 17, end: 17 } },
  });
  expect(finish).toEqual({
    ...outer,
    type: "step_finish",
    part: {
      ...common,
      id: "prt_3",
      type: "step-finish",
      reason: "stop",
      tokens: { total: 5, input: 2, output: 3, reasoning: 0, cache: { read: 0, write: 0 } },
      cost: 0.5,
    },
  });
});

test("a failure below the protocol is one line without a part, which names the session if there is one", () => {
  expect(messages(errorLine("ses_1", "UnknownError", "no room", 17))).toEqual([
    { type: "error", timestamp: 17, sessionID: "ses_1", error: { name: "UnknownError", data: { message: "no room" } } },
  ]);
  expect(messages(errorLine(undefined, "UnknownError", "no room", 17))[0]).not.toHaveProperty("sessionID");
});
