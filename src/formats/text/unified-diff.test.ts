import { describe, expect, test } from "vitest";
import { EDITS_MAX, unifiedDiff } from "./unified-diff.ts";

const names = { from: "old", to: "new" };

describe("a unified diff", () => {
  test("shows what was taken out and put in, with three lines around it", () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(unifiedDiff(before, before.replace("5", "five"), names)).toEqual({
      text: "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
      added: 1,
      removed: 1,
    });
  });

  test("of equal texts is empty", () => {
    expect(unifiedDiff("a\n", "a\n", names)).toEqual({ text: "", added: 0, removed: 0 });
  });

  test("says where a text does not end its last line", () => {
    expect(unifiedDiff("a", "a\n", names).text).toBe(
      "--- old\n+++ new\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
    );
  });

  test("of a text that began empty names the line before the first", () => {
    expect(unifiedDiff("", "a\nb\n", names).text).toBe("--- old\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  });

  test("puts changes that are far from each other into hunks of their own", () => {
    const before = Array.from({ length: 20 }, (_, i) => `${i}\n`).join("");
    const after = before.replace("2\n", "two\n").replace("17\n", "");
    const { text, added, removed } = unifiedDiff(before, after, names);
    expect(text.match(/^@@ .* @@$/gm)).toEqual(["@@ -1,6 +1,6 @@", "@@ -15,6 +15,5 @@"]);
    expect({ added, removed }).toEqual({ added: 1, removed: 2 });
  });

  test("stays true when there are more differences than are searched for", () => {
    const many = EDITS_MAX + 10;
    const before = Array.from({ length: many }, (_, i) => `a${i}\n`).join("");
    const after = Array.from({ length: many }, (_, i) => `b${i}\n`).join("");
    expect(unifiedDiff(before, after, names)).toMatchObject({ added: many, removed: many });
  });

  test("takes all between the first and the last difference for one when there are more than are searched for", () => {
    const text = (mark: string) => Array.from({ length: EDITS_MAX }, (_, i) => `${mark}${i}\nsame\n`).join("");
    const { added, removed } = unifiedDiff(text("a"), text("b"), names);
    expect({ added, removed }).toEqual({ added: 2 * EDITS_MAX - 1, removed: 2 * EDITS_MAX - 1 });
  });

  test("says all that is needed to make the new text from the old one", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor(seed / 65536) % below;
    };
    const text = () => Array.from({ length: random(30) }, () => `${random(4)}`).join("\n") + (random(2) ? "\n" : "");
    for (let round = 0; round < 500; round++) {
      const [before, after] = [text(), text()];
      expect(patched(before, unifiedDiff(before, after, names).text)).toBe(after);
    }
  });
});

/** What the patch program does. */
function patched(before: string, diff: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  let result = "";
  let at = 0;
  for (const [, head = "", body = ""] of diff.matchAll(/^@@ -(\S+) .*@@\n((?:[ +\\-].*\n)*)/gm)) {
    const [start = 0, count = 1] = head.split(",").map(Number);
    for (; at < (count === 0 ? start : start - 1); at++) result += lines[at] ?? "";
    for (const [, sign = "", line = ""] of body.replace(/\n\\ .*\n/g, "\u0000\n").matchAll(/^([ +-])(.*)\n/gm)) {
      const whole = line.endsWith("\u0000") ? line.slice(0, -1) : `${line}\n`;
      if (sign !== "+") expect(lines[at++]).toBe(whole);
      if (sign !== "-") result += whole;
    }
  }
  return result + lines.slice(at).join("");
}
