import { expect, test } from "vitest";
import { sortedJson } from "./sorted-json.ts";

test("names are sorted at every depth, also those that look like numbers", () => {
  const value = { b: 1, "10": [{ d: null, c: "é" }], "9": {}, a: [] };
  expect(sortedJson(value)).toBe('{"10":[{"c":"é","d":null}],"9":{},"a":[],"b":1}');
});

test("with an indentation every part has its line", () => {
  expect(sortedJson({ b: [1, {}], a: "x" }, "  ")).toBe('{\n  "a": "x",\n  "b": [\n    1,\n    {}\n  ]\n}');
});

test("half a surrogate pair and inherited names are no obstacle", () => {
  expect(sortedJson(JSON.parse('{"__proto__":"\\ud800"}'))).toBe('{"__proto__":"\\ud800"}');
});
