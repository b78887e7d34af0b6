import { describe, expect, test } from "vitest";
import { type WrapperMessage, WrapperStream } from "./wrapper-stream.ts";

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
