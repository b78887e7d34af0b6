import { describe, expect, test } from "vitest";
import { randomJsonText, randomNumberText } from "../../testing/random-json.ts";
import { mutated } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { DEPTH_MAX, type Json, JsonObject, readJson, Unreadable } from "./exact-json.ts";

describe("an integer", () => {
  test.each([
    ["0", 0n],
    ["-1", -1n],
    ["9007199254740993", 9007199254740993n],
    ["-9007199254740993", -9007199254740993n],
    ["18446744073709551615", 2n ** 64n - 1n],
    ["-9223372036854775808", -(2n ** 63n)],
  ])("is exact: %s", (text, value) => {
    expect(readJson(text)).toBe(value);
  });

  test.each([
    ["18446744073709551616", 2 ** 64],
    ["-9223372036854775809", -(2 ** 63)],
    ["100000000000000000000000000", 1e26],
  ])("that 64 bits do not hold is a float: %s", (text, value) => {
    expect(readJson(text)).toBe(value);
  });

  test.each([
    ["1.0", 1],
    ["1e0", 1],
    ["1E+2", 100],
    ["-0", -0],
    ["0.5e1", 5],
  ])("is only what is written as one: %s is a float", (text, value) => {
    expect(readJson(text)).toBe(value);
  });
});

describe("a float", () => {
  test.each(["1e400", "-1e400", `1${"0".repeat(400)}`, `{"x":[1e309]}`])(
    "that is out of range is refused: %.30s",
    (text) => {
      expect(() => readJson(text)).toThrow(Unreadable);
    },
  );

  test("may be too small to be anything but zero", () => {
    expect(readJson("[1e-400,-1e-400]")).toEqual([0, -0]);
  });
});

describe("an object", () => {
  test("has all its members in order, also those with the same name", () => {
    const object = readJson(`{"b":1,"a":2,"b":3,"__proto__":4,"1":5}`) as JsonObject;
    expect(object.members).toEqual([
      ["b", 1n],
      ["a", 2n],
      ["b", 3n],
      ["__proto__", 4n],
      ["1", 5n],
    ]);
  });
});

describe("a string", () => {
  test.each([
    String.raw`"\ud83d"`,
    String.raw`"\ude00"`,
    String.raw`"\ud83d\ud83d"`,
    String.raw`"\ud83d\n"`,
    String.raw`"\ud83dx"`,
    String.raw`"\ude00\ud83d"`,
    String.raw`"\ude00\ude00"`,
    String.raw`{"\uD800":1}`,
  ])("with half of a surrogate pair is refused: %s", (text) => {
    expect(() => readJson(text)).toThrow("half of a surrogate pair");
  });

  test("may spell a character above U+FFFF as a pair of escapes", () => {
    expect(readJson(String.raw`"\ud83d\uDE00"`)).toBe("😀");
  });

  test("must escape exactly the characters below U+0020", () => {
    for (let unit = 0; unit < 0x20; unit++) {
      expect(() => readJson(`"${String.fromCharCode(unit)}"`)).toThrow("control character");
    }
    for (const raw of ["\u0020", "\u007f", "\u0085", "\u2028", "\u2029", "\ufeff"]) {
      expect(readJson(`"${raw}"`)).toBe(raw);
    }
  });
});

describe("nesting", () => {
  const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const objects = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;

  test.each([lists, objects])("may be as deep as 127 brackets and no deeper", (nested) => {
    expect(DEPTH_MAX).toBe(127);
    expect(() => readJson(nested(127))).not.toThrow();
    expect(() => readJson(nested(128))).toThrow("nested more than 127 deep");
  });

  test("counts brackets that are open at once, not those that were", () => {
    expect(() => readJson(`[${"[],".repeat(500)}[]]`)).not.toThrow();
  });
});

describe("a text", () => {
  test.each([
    "",
    " ",
    "{}{}",
    "{} x",
    "1,",
    "nul",
    "tru",
    "NaN",
    "Infinity",
    "+1",
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "0x1",
    "'a'",
  ])("that is not exactly one value is refused: %j", (text) => {
    expect(() => readJson(text)).toThrow(Unreadable);
  });

  test.each([
    "[1,]",
    `{"a":1,}`,
    "{a:1}",
    "[1 2]",
    `{"a" 1}`,
    `{"a":}`,
    "[",
    "{",
    `{"a"`,
    `"`,
    `"\\`,
    `"\\x"`,
    `"\\u12"`,
    "]",
  ])("that is broken is refused: %s", (text) => {
    expect(() => readJson(text)).toThrow(Unreadable);
  });

  test("may have white space of JSON around the value and no other", () => {
    expect(readJson(" \t\r\n1\n\r\t ")).toBe(1n);
    for (const other of ["\ufeff", "\u00a0", "\u0085", "\u2028", "\u000b", "\u000c"]) {
      expect(() => readJson(`${other}1`)).toThrow(Unreadable);
      expect(() => readJson(`1${other}`)).toThrow(Unreadable);
    }
  });

  test("that is refused says where", () => {
    expect(() => readJson(`{"a":x}`)).toThrow("no JSON value begins here (column 6)");
  });
});

describe("beside JSON.parse", () => {
  test("the same texts have the same values", () => {
    const random = randomFrom(1);
    for (let i = 0; i < 3000; i++) {
      const text = randomJsonText(random);
      expect(plain(readJson(text)), text).toEqual(JSON.parse(text));
    }
  });

  test("the same texts are refused, but for the differences that are tested above", () => {
    const random = randomFrom(2);
    const isDifferent = (text: string) => /\\u[dD][89a-fA-F]|[eE]\+?\d{3}/.test(text);
    let refused = 0;
    for (let i = 0; i < 6000; i++) {
      const text = new TextDecoder().decode(mutated(new TextEncoder().encode(randomJsonText(random)), random));
      const mine = outcome(() => plain(readJson(text)));
      const theirs = outcome(() => JSON.parse(text));
      if (mine === undefined && theirs !== undefined) expect(text).toSatisfy(isDifferent);
      else expect(mine, text).toEqual(theirs);
      if (mine === undefined) refused++;
    }
    expect(refused).toBeGreaterThan(1000);
  });

  test("numbers are the same doubles, and integers the same integers", () => {
    const random = randomFrom(3);
    for (let i = 0; i < 3000; i++) {
      const text = randomNumberText(random);
      const isInteger = /^-?\d+$/.test(text) && text !== "-0";
      const exact = isInteger ? BigInt(text) : undefined;
      const fits = exact !== undefined && BigInt.asIntN(64, exact) === exact;
      const fitsUnsigned = exact !== undefined && BigInt.asUintN(64, exact) === exact;
      expect(readJson(text), text).toBe(fits || fitsUnsigned ? exact : Number.parseFloat(text));
    }
  });
});

/** As JSON.parse gives it: doubles only, and the last of members with one name. */
function plain(value: Json): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!(value instanceof JsonObject)) return value;
  const object = {};
  for (const [name, member] of value.members) {
    const property = { value: plain(member), enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, name, property);
  }
  return object;
}

/** Boxed, so that it differs from a refusal. */
function outcome(read: () => unknown): { value: unknown } | undefined {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof Unreadable || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
