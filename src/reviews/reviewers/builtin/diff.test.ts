import { describe, expect, test } from "vitest";
import { builtinReviewer } from "./builtin-reviewer.ts";
import { readDiff } from "./diff.ts";
import { isDiff } from "./rule.ts";

const lines = (...texts: string[]) => `${texts.join("\n")}\n`;

async function review(content: string, media_type = "text/x-diff") {
  const request = { protocol_version: "1.2", iteration: 1, artifact: { media_type, content } } as const;
  const session = { sessionID: "s", last: 0, issued: [], decisions: [] };
  return builtinReviewer().review({ request, session, decisions: [], signal: new AbortController().signal });
}

const descriptions = async (content: string, media_type?: string) =>
  (await review(content, media_type)).remarks.map(({ description }) => description);

const CHANGE = lines(
  "diff --git a/src/a.js b/src/a.js",
  "index 83db48f..bf269f4 100644",
  "--- a/src/a.js",
  "+++ b/src/a.js",
  "@@ -10,4 +10,5 @@ function f() {",
  " // TODO: was there before",
  "-console.log('gone');",
  "+console.log('new');",
  "+// TODO: say why",
  " g();",
  "--- a comment of SQL that is taken out",
  " h();",
);

describe("a diff", () => {
  test("is checked by its added lines, which are named by their file and their number in it", async () => {
    expect(await descriptions(CHANGE)).toEqual([
      "Line 12 of src/a.js has a TODO mark: “// TODO: say why”.",
      "Line 11 of src/a.js looks like left over from debugging: “console.log('new');”.",
    ]);
  });

  test("is no prose: its own words, removed lines and context are nobody's to improve", async () => {
    const removed = lines("--- a/plan.md", "+++ b/plan.md", "@@ -1,2 +1,2 @@", " TODO: old", "-TBD", "+Ada");
    expect(await descriptions(removed)).toEqual([]);
  });

  test("has a new file checked as a whole, by what its name says that it is", async () => {
    const added = lines(
      "--- /dev/null",
      "+++ b/docs/new.md",
      "@@ -0,0 +1,3 @@",
      "+# Plan",
      "+",
      "+See [this](#gone).",
      "--- /dev/null",
      "+++ b/x.json",
      "@@ -0,0 +1 @@",
      '+{"a":1,"a":2',
    );
    expect(await descriptions(added)).toEqual([
      "x.json is not valid JSON.",
      "Line 3 of docs/new.md links “this” to “#gone”, which the document does not have.",
    ]);
  });

  test("of a file that was there is not checked for what its other lines may have", async () => {
    const part = lines(
      "--- a/x.md",
      "+++ b/x.md",
      "@@ -9 +9,2 @@",
      " See",
      "+[this](#there).",
      "@@ -20 +21,2 @@",
      " a",
      "+```",
    );
    expect(await descriptions(part)).toEqual([]);
    const code = (after: string) =>
      lines("--- a/x.js", "+++ b/x.js", "@@ -1,1 +1,3 @@", "+try { f(); } catch {", after, " g();");
    expect(await descriptions(code(" }"))).toHaveLength(1);
    expect(await descriptions(code("   report();"))).toEqual([]);
  });

  test("has ids that stay when lines move, and differ by file", async () => {
    const change = (file: string, at: number) =>
      lines(`--- a/${file}`, `+++ b/${file}`, `@@ -${at},0 +${at},1 @@`, "+// TODO: say why");
    const ids = async (content: string) => (await review(content)).remarks.map(({ id }) => id);
    expect(await ids(change("a.js", 90))).toEqual(await ids(change("a.js", 3)));
    expect(await ids(change("b.js", 3))).not.toEqual(await ids(change("a.js", 3)));
  });

  test("is known by its type, and a plain text by how it begins", async () => {
    for (const type of ["text/x-diff", "text/x-patch", "text/diff", "application/x-patch"]) {
      expect(isDiff(type, "")).toBe(true);
    }
    expect(isDiff("text/plain", CHANGE)).toBe(true);
    expect(isDiff("text/plain", `commit 83db48f\nAuthor: Ada\n\n    Subject\n\n${CHANGE}`)).toBe(true);
    expect(isDiff("text/plain", `Here is what I changed:\n${CHANGE}`)).toBe(false);
    expect(isDiff("text/markdown", CHANGE)).toBe(false);
    expect((await review(CHANGE)).confidence.justification).toContain("it was read as a diff of 1 file.");
  });

  test("that shows no added line is read as a text", async () => {
    expect(await descriptions("TODO: make the change")).toHaveLength(1);
  });
});

describe("the files of a diff", () => {
  test("are found also where its line counts are wrong", () => {
    const files = readDiff(
      lines(
        "--- a/x",
        "+++ b/x",
        "@@ -1,90 +1,90 @@",
        "+one",
        "--- a/y\t2026-01-01",
        '+++ "b/y z"',
        "@@ -1 +1 @@",
        "+two",
        "+three",
      ),
    );
    expect(files.map(({ path, lines: [line] }) => [path, line?.text])).toEqual([
      ["x", "one"],
      ["y z", "two"],
    ]);
    expect(files[1]?.lines).toHaveLength(2);
  });

  test("leave out those that are removed, renamed or binary", () => {
    const text = lines(
      "diff --git a/x b/x",
      "--- a/x",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-gone",
      "diff --git a/y b/z",
      "similarity index 100%",
      "rename from y",
      "diff --git a/p.png b/p.png",
      "Binary files a/p.png and b/p.png differ",
      "+not in a hunk",
    );
    expect(readDiff(text)).toEqual([]);
  });
});
