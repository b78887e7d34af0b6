import { describe, expect, test } from "vitest";
import { answerStream, errorLine, type WrapperMessage, WrapperStream } from "./wrapper-stream.ts";

function read(text: string | Uint8Array, size = Number.POSITIVE_INFINITY) {
  const messages: WrapperMessage[] = [];
  const stream = new WrapperStream((message) => messages.push(message));
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  for (let at = 0; at < bytes.length; at += size) stream.take(bytes.subarray(at, at + size));
  stream.end();
  return { messages, warnings: [...stream.warnings], cut: stream.cut, lines: stream.lines };
}

const said = (text: string) => JSON.stringify({ type: "text", part: { text } });

describe("a stream", () => {
  test("is the same in pieces of any size", () => {
    const text = `\ufeff${said("Grüße 🌍")}\r\n\n${said("a\u2028b")}\n`;
    const whole = read(text);
    expect(whole.messages.map(({ part }) => part?.["text"])).toEqual(["Grüße 🌍", "a\u2028b"]);
    expect(whole.warnings).toEqual([]);
    for (const size of [1, 2, 3, 7]) expect(read(text, size)).toEqual(whole);
  });

  test.each(["no JSON", "[]", '"text"', '{"type":7}', "{}", "null"])("goes on after the line %s", (line) => {
    expect(read(`${line}\n${said("x")}\n`)).toMatchObject({
      messages: [{ type: "text" }],
      warnings: ["not_a_message"],
      cut: false,
    });
  });

  test("ends normally without a line break when its last line is whole", () => {
    expect(read(said("x"))).toMatchObject({ messages: [{ type: "text" }], warnings: [], cut: false });
  });

  test.each(['{"type":"te', "[]"])("is cut when it ends with %s", (rest) => {
    expect(read(`${said("x")}\n${rest}`)).toMatchObject({ messages: [{ type: "text" }], warnings: [], cut: true });
  });

  test("that breaks off within a character is cut", () => {
    const bytes = new TextEncoder().encode(`${said("x")}\n${said("世")}`);
    expect(read(bytes.subarray(0, bytes.lastIndexOf(0xb8))).cut).toBe(true);
  });

  test.each(["step_start", "text", "reasoning", "tool_use", "step_finish", "error", "done"])(
    "may have %s in it",
    (type) => {
      expect(read(`${JSON.stringify({ type })}\n`)).toMatchObject({ messages: [{ type }], warnings: [] });
    },
  );

  test("may have messages of unknown types, without anything but a type", () => {
    const { messages, warnings } = read(
      '{"type":"news"}\n{"type":"step_start","part":"x","sessionID":7}\n{"type":"done"}\n',
    );
    expect(messages).toEqual([{ type: "step_start" }, { type: "done" }]);
    expect(warnings).toEqual(["unknown_type"]);
  });
});

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
