import { expect, test } from "vitest";
import { fileLines, fileText, type KnownRow, pairRows } from "./row-lines.ts";

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

const row = (key: string, text: string) => ({ key, text });
const known = (key: string, text: string, state: KnownRow["state"] = "live"): KnownRow => ({ key, text, state });
const pairs = (rows: readonly { key: string; text: string }[], all: readonly KnownRow[]) =>
  rows.map((one) => pairRows(rows, all).get(one));

test("a row is the known one of its key that says the same, whatever the order", () => {
  const [one, two] = [known("a", "1"), known("a", "2")];
  expect(pairs([row("a", "2"), row("a", "1")], [one, two])).toEqual([two, one]);
});

test("a row that says something else is the first of its key that is left", () => {
  const [one, two] = [known("a", "1"), known("a", "2")];
  expect(pairs([row("a", "3"), row("a", "1"), row("a", "4"), row("b", "1")], [one, two])).toEqual([
    two,
    one,
    undefined,
    undefined,
  ]);
});

test.each(["same", "other"])(
  "a known row that still counts comes before one that does not, for the %s text",
  (text) => {
    const [gone, old, live] = [known("a", "same", "retracted"), known("a", "same", "superseded"), known("a", "same")];
    const rows = [row("a", text), row("a", text), row("a", text)];
    expect(pairs(rows, [gone, old, live])).toEqual([live, old, gone]);
  },
);
