import { expect, test } from "vitest";
import { fileLines, fileText } from "./file-lines.ts";

test.each(["", "\n", "a", "a\n", "a\r\n\r\nb", "a\rb\r\r\n", "a\r\nb\r", "\u2028\u0085\n\n", "\r"])(
  "the lines of %j put together are the text",
  (text) => {
    expect(fileText(fileLines(text))).toBe(text);
  },
);

test.each([
  ["a", "a\nnew\n"],
  ["a\nb\r\nc", "a\nb\r\nc\r\nnew\r\n"],
  ["a\r\nb\r", "a\r\nb\r\nnew\r\n"],
])("what is added to %j is a line of its own, and changes no other", (text, longer) => {
  const lines = fileLines(text);
  const end = longer.endsWith("\r\n") ? "\r\n" : "\n";
  const added = fileText([...lines, { text: "new", end }]);
  expect(added).toBe(longer);
  expect(fileLines(added).map((line) => line.text)).toEqual([...lines.map((line) => line.text), "new"]);
});
