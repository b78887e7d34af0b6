import { expect, test } from "vitest";
import { documentOf } from "./document.ts";
import { codeOf } from "./languages.ts";

test.each([" ", "\t", "\f", "\v", "\u00a0", "\u2003", "\u2028", "\u3000", "\ufeff"])(
  "of a long run of blanks the rules see a short one: %j",
  (blank) => {
    const [line] = documentOf(`[](${blank.repeat(3000)}`, "markdown", "text/markdown").lines;
    expect(line?.text.length).toBeLessThan(200);
  },
);

test("a quote behind a backslash opens no text, so that each part of a line is looked at once", () => {
  expect(codeOf('\\"a\\" + "b\\"c" + d', "script")).toBe('\\"a\\" + "" + d');
});
