import { expect, test } from "vitest";
import { type KnownRow, pairRows } from "./row-key-pairs.ts";

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
