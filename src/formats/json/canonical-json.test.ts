import { describe, expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

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
