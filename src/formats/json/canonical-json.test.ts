import { describe, expect, test } from "vitest";
import { canonicalJson, sortedJson } from "./canonical-json.ts";

describe("canonical JSON", () => {
  test("sorts keys by UTF-16 code unit, not by code point", () => {
    expect(
      canonicalJson({ "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 }),
    ).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  });

  test("writes numbers as ECMAScript does", () => {
    expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
      "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
    );
  });

  test("escapes only what must be escaped", () => {
    expect(canonicalJson("\u20ac$\u000f\nA'B\"\\/")).toBe('"\u20ac$\\u000f\\nA\'B\\"\\\\/"');
  });

  test("leaves out undefined properties, as JSON does", () => {
    expect(canonicalJson({ b: undefined, a: [null, true] })).toBe('{"a":[null,true]}');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, "\ud800", { "\udc00": 1 }, () => 1, undefined])(
    "refuses %s, which JSON cannot say exactly",
    (value) => {
      expect(() => canonicalJson(value)).toThrow(TypeError);
    },
  );
});

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
