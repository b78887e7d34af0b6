import { describe, expect, test } from "vitest";
import { decodeAnswer } from "./decode-answer.ts";

const answer = (mark = "x") => ({ protocol_version: "1.2", status: "success", mark });
const text = (mark?: string) => JSON.stringify(answer(mark));

describe("an answer in a text", () => {
  test.each([
    ["strict", text()],
    ["strict", `\n\ufeff ${text()}\t\n`],
    ["strict", JSON.stringify(answer(), null, 2)],
    ["double_encoded", JSON.stringify(text())],
    ["fenced", `Here:\n\`\`\`json\n${text()}\n\`\`\`\nDone.`],
    ["fenced", `\`\`\`\n${text()}\`\`\``],
    ["fenced", `~~~json\n${text()}\n~~~`],
    ["fenced", `\`\`\`json\n${text("a ```js fence``` in it")}\n\`\`\``],
    ["fenced", `\`\`\`\`md\n\`\`\`\n\`\`\`\`\n\`\`\`json\n${text()}\n\`\`\``],
    ["fenced", `\`\`\`\n\`\`\`js\nx\n\`\`\`\n\`\`\`json\n${text()}\n\`\`\``],
    ["fenced", `\`\`\`json\n${text("\u2028```\u2028 begins no line")}\n\`\`\``],
    ["embedded", `Well, {this} is "it": ${text()}. Bye.`],
    ["embedded", `\`\`\`json\n${text()}`],
  ])("is found (%s): %s", (how, source) => {
    expect(decodeAnswer(source)).toMatchObject({ how, value: { status: "success" } });
  });

  test("that is the whole text may be any object", () => {
    expect(decodeAnswer('{"a":1}')).toEqual({ how: "strict", value: { a: 1 } });
  });

  test("among other words must look like one, and the last counts", () => {
    expect(decodeAnswer(`{"a":1} and ${text("one")} and ${text("two")} and {"b":2}`)?.value).toEqual(answer("two"));
    expect(decodeAnswer('say {"status":"success"} or {"protocol_version":"1.2","status":"fine"}')).toBeUndefined();
  });

  test("inside another object does not count", () => {
    expect(decodeAnswer(`see {"inner":${text()}}!`)).toBeUndefined();
  });

  test("of several fences is in the last that holds one", () => {
    const source = `\`\`\`\n${text("one")}\n\`\`\`\n\`\`\`\n${text("two")}\n\`\`\`\n\`\`\`js\nx\n\`\`\``;
    expect(decodeAnswer(source)?.value).toEqual(answer("two"));
  });

  test.each(["", "  ", "No.", "[1]", "7", "null", '"words"', text().slice(0, -3)])("is not in %j", (source) => {
    expect(decodeAnswer(source)).toBeUndefined();
  });

  test("nested deeper than can be written down is none", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(decodeAnswer(`{"protocol_version":"1.2","status":"success","x-deep":${deep}}`)).toBeUndefined();
  });

  test("is looked for with an effort that grows with the text, not with its square", () => {
    const size = 1 << 21;
    const tildes = `${"~".repeat(size)}\``;
    const texts = ["{".repeat(size), `a${" ".repeat(size)}a`, '{"'.repeat(size / 2), "```".repeat(size / 4), tildes];
    for (const source of texts) {
      expect(decodeAnswer(source)).toBeUndefined();
    }
  });
});
