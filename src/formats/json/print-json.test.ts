import { describe, expect, test } from "vitest";
import { randomFloat, randomFreeForm, randomJsonText, randomText } from "../../testing/random-json.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { readJson } from "./exact-json.ts";
import { compareUtf8, freeForm, printFloat, printFreeForm, printString } from "./print-json.ts";

describe("a float", () => {
  test.each([
    [1e3, "1000.0"],
    [1e16, "1e16"],
    [0.00001, "0.00001"],
    [0.000001, "1e-6"],
    [-0, "-0.0"],
    [0, "0.0"],
    [1.5e-7, "1.5e-7"],
    [-1.5e-7, "-1.5e-7"],
    [0.1, "0.1"],
    [0.1 + 0.2, "0.30000000000000004"],
    [123.456, "123.456"],
    [-123.456, "-123.456"],
    [1e15, "1000000000000000.0"],
    [1e17, "1e17"],
    [1234567890123456, "1234567890123456.0"],
    [123456789012345.6, "123456789012345.6"],
    [12345678901234568, "1.2345678901234568e16"],
    [9999999999999998, "9999999999999998.0"],
    [2 ** 53 - 1, "9007199254740991.0"],
    [2 ** 53, "9007199254740992.0"],
    [2 ** 53 + 2, "9007199254740994.0"],
    [2 ** 64, "1.8446744073709552e19"],
    [1.5e16, "1.5e16"],
    [0.00012, "0.00012"],
    [1.2e-5, "0.000012"],
    [1.2e-6, "1.2e-6"],
    [9.999e-6, "9.999e-6"],
    [Number.MAX_VALUE, "1.7976931348623157e308"],
    [Number.MIN_VALUE, "5e-324"],
    [2.2250738585072014e-308, "2.2250738585072014e-308"],
    [2.225073858507201e-308, "2.225073858507201e-308"],
    [1e300, "1e300"],
  ])("%d is written as %s", (value, text) => {
    expect(printFloat(value)).toBe(text);
    expect(readJson(text)).toBe(value);
  });

  test("reads back as the same double, is as short as can be, and has an exponent only outside of 1e-5 to 1e16", () => {
    const random = randomFrom(4);
    for (let i = 0; i < 5000; i++) {
      const value = i % 2 === 0 ? randomFloat(random) : (random() - 0.5) * 10 ** Math.floor(random() * 26 - 8);
      const text = printFloat(value);
      expect(readJson(text), text).toBe(value);
      expect(text).toBe(otherwise(value));
    }
  });
});

/** The same rule said in terms of what JavaScript prints. */
function otherwise(value: number): string {
  const size = Math.abs(value);
  if (Object.is(value, -0)) return "-0.0";
  if (size !== 0 && (size < 1e-5 || size >= 1e16)) return value.toExponential().replace("e+", "e");
  const plain = String(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}

describe("a string", () => {
  test("is escaped where it must be, in the shortest way, and nowhere else", () => {
    expect(printString('"\\\b\f\n\r\t/\u007f\u2028é😀')).toBe('"\\"\\\\\\b\\f\\n\\r\\t/\u007f\u2028é😀"');
    expect(printString("\u0000\u000b\u001f")).toBe('"\\u0000\\u000b\\u001f"');
  });
});

describe("names of members", () => {
  test("are sorted by their bytes at every level", () => {
    const text = `{"b":[{"\u{10000}":1,"\uffff":2,"\ue000":3,"é":4,"z":5,"10":6,"2":7,"":8,"Z":9}],"__proto__":{"b":1,"a":2},"a":0}`;
    expect(printFreeForm(freeForm(readJson(text)))).toBe(
      `{"__proto__":{"a":2,"b":1},"a":0,"b":[{"":8,"10":6,"2":7,"Z":9,"z":5,"é":4,"\ue000":3,"\uffff":2,"\u{10000}":1}]}`,
    );
  });

  test("compare as their UTF-8 does", () => {
    const random = randomFrom(5);
    for (let i = 0; i < 5000; i++) {
      const [a, b] = [randomText(random, 3), randomText(random, 3)];
      expect(Math.sign(compareUtf8(a, b)), `${a} ${b}`).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }
  });
});

describe("a value that is free", () => {
  test("is written compactly", () => {
    expect(printFreeForm(freeForm(readJson(' { "b" : [ 1 , 1.0 , -0, true , null ] , "a" : { } , "c" : [ ] } ')))).toBe(
      '{"a":{},"b":[1,1.0,-0.0,true,null],"c":[]}',
    );
  });

  test("keeps the last of members with one name", () => {
    expect(printFreeForm(freeForm(readJson('{"a":1,"b":2,"a":{"x":1,"x":2}}')))).toBe('{"a":{"x":2},"b":2}');
  });

  test("is the same after it was written and read", () => {
    const random = randomFrom(6);
    for (let i = 0; i < 1000; i++) {
      const value = randomFreeForm(random);
      expect(freeForm(readJson(printFreeForm(value)))).toEqual(value);
    }
  });

  test("does not change any more once it was written, whatever it was read from", () => {
    const random = randomFrom(7);
    for (let i = 0; i < 1000; i++) {
      const once = printFreeForm(freeForm(readJson(randomJsonText(random))));
      expect(printFreeForm(freeForm(readJson(once)))).toBe(once);
    }
  });
});
