import { expect, test } from "vitest";
import { bounded, CHARACTERS_MAX, readArtifact } from "./document.ts";
import { readMarkdown } from "./markdown.ts";
import { remarksOn } from "./review-by-rules.ts";
import { codeOf } from "./rules-code.ts";

test.each([" ", "\t", "\f", "\v", "\u00a0", "\u2003", "\u2028", "\u3000", "\ufeff"])(
  "of a long run of blanks the rules see a short one: %j",
  (blank) => {
    expect(bounded(`[](${blank.repeat(3000)}`).length).toBeLessThan(200);
  },
);

test("a quote behind a backslash opens no text, so that each part of a line is looked at once", () => {
  expect(codeOf('\\"a\\" + "b\\"c" + d')).toBe('\\"a\\" + "" + d');
});

test("an artifact is read up to a bound, and Markdown beyond it by its lines only", () => {
  const text = `TODO: one\n\n# Empty\n\n${"a\n".repeat(CHARACTERS_MAX / 2)}\nTODO: beyond\n`;
  const { documents, isWhole } = readArtifact({ media_type: "text/markdown", content: text });
  expect(isWhole).toBe(false);
  expect(documents[0]?.markdown).toBeUndefined();
  expect(remarksOn(documents).map(({ id }) => id.split(".")[0])).toEqual(["todo-mark"]);
});

test("the syntax of JSON is checked beyond the bound", () => {
  const artifact = (end: string) => ({
    media_type: "application/json",
    content: `[${"0,".repeat(CHARACTERS_MAX)}${end}`,
  });
  expect(remarksOn(readArtifact(artifact("0]")).documents)).toEqual([]);
  expect(remarksOn(readArtifact(artifact("]")).documents)).toMatchObject([{ aspect: "structure" }]);
});

test("of a value with many members no more lines are made than are read", () => {
  const content = { a: Array.from({ length: 400_000 }, () => "x") };
  const { documents, isWhole } = readArtifact({ media_type: "application/json", content });
  expect(isWhole).toBe(false);
  expect(documents[0]?.lines.length).toBeLessThan(CHARACTERS_MAX / 4);
});

test.each([[">"], ["- "], ["  - a\n"], ["[a]("], ["![a"], ["**a _b "]])(
  "Markdown that is nested deeper than anybody reads is read all the same: %j",
  (piece) => {
    expect(readMarkdown(piece.repeat(20_000)).headings).toEqual([]);
  },
);
