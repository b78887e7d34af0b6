import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { digestOf, linesOfContent } from "./artifact.ts";

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

test("the version mark of a text is that of its bytes", () => {
  expect(digestOf("Grüße\r\n")).toBe(sha256("Grüße\r\n"));
});

test.each<[unknown, string]>([
  [{ b: [1, { d: null, c: "é" }], a: true }, '{"a":true,"b":[1,{"c":"é","d":null}]}'],
  [[], "[]"],
  [null, "null"],
  [0, "0"],
])("that of %j is that of its JSON with sorted names and no blanks", (content, text) => {
  expect(digestOf(content)).toBe(sha256(text));
});

test("a text is compared as it is, anything else as JSON with sorted names and two blanks of indentation", () => {
  expect(linesOfContent("a\nb")).toBe("a\nb");
  expect(linesOfContent({ b: [1], a: {} })).toBe('{\n  "a": {},\n  "b": [\n    1\n  ]\n}\n');
});
