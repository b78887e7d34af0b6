import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { parseBody } from "./read-body.ts";

const limits = { maxDepth: 4, maxElements: 20 };
const read = (body: string | Buffer) => parseBody(Buffer.from(body), limits).value;

function problem(body: string | Buffer): string {
  try {
    read(body);
  } catch (error) {
    if (error instanceof AppError) return String(error.details["problem"]);
    throw error;
  }
  return "none";
}

describe("a body that is JSON", () => {
  test.each([
    "{}",
    "[1,2]",
    '"text"',
    "null",
    ' {"a" : [ {"b":[1]} ]} \n',
    '{"a":"[[[[[[[[{{{{{{"}',
    '"\\\\\\"[[[[[[["',
  ])("%s is read as JSON.parse reads it", (body) => {
    expect(read(body)).toEqual(JSON.parse(body));
  });

  test("keeps its text", () => {
    expect(parseBody(Buffer.from('{ "a": 1.0 }'), limits).text).toBe('{ "a": 1.0 }');
  });

  test("may hold whole surrogate pairs, escaped or not", () => {
    expect(read('["\\ud83d\\ude00","😀"]')).toEqual(["😀", "😀"]);
  });

  test("may hold the word __proto__ as a value", () => {
    expect(read('["__proto__"]')).toEqual(["__proto__"]);
  });
});

describe("a body that is not JSON", () => {
  test.each([
    ['{"a":1', "end at line 1, column 7"],
    ['{"a":1}}', "character at line 1, column 8"],
    ['{"a":1} {"b":2}', "character at line 1, column 9"],
    ['{\n  "a": tru\n}', "character at line 2, column 8"],
    ["{'a':1}", "character at line 1, column 2"],
    ['{"a":01}', "character at line 1, column 7"],
    ['["a\nb"]', "character at line 1, column 4"],
    ['["\\x"]', "character at line 1, column 3"],
    ["[1,]", "character at line 1, column 4"],
    ["NaN", "character at line 1, column 1"],
    ["   ", "end at line 1, column 4"],
    ['{"secret":hunter2}', "character at line 1, column 11"],
  ])("%j breaks at the %s", (body, where) => {
    expect(problem(body)).toBe(`the body is not JSON: unexpected ${where}`);
  });

  test("is never quoted", () => {
    expect(problem('{"password":"hunter2" oops}')).not.toMatch(/hunter2|oops|password/);
  });
});

describe("a body that says too much", () => {
  test("is refused by its depth", () => {
    expect(read("[[[[1]]]]")).toEqual([[[[1]]]]);
    expect(problem("[[[[[1]]]]]")).toContain("deeper than 4");
    expect(problem("[".repeat(100_000))).toContain("deeper than 4");
    expect(problem('{"a":'.repeat(100_000))).toContain("deeper than 4");
  });

  test("is refused by its number of elements", () => {
    expect(problem(`[${"1,".repeat(20)}1]`)).toContain("more than 20");
    expect(read(`["${",".repeat(100)}"]`)).toHaveLength(1);
  });
});

describe("a body in another encoding", () => {
  test.each([
    ["UTF-16", Buffer.from('{"a":1}', "utf16le"), "is not JSON"],
    ["Latin-1", Buffer.from('{"a":"é"}', "latin1"), "is not UTF-8"],
    ["overlong UTF-8", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), "is not UTF-8"],
    ["UTF-8 with surrogates", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "is not UTF-8"],
    ["UTF-8 with a byte order mark", Buffer.from("\ufeff{}"), "byte order mark"],
  ])("%s is refused", (_, body, why) => {
    expect(problem(body)).toContain(why);
  });
});

describe("a body that JSON.parse takes and nothing else could keep", () => {
  test.each([
    ['{"a":["\\ud800"]}', "half of a surrogate pair at /a/0"],
    ['{"a":{"\\udc00":1}}', "half of a surrogate pair in a member name at /a"],
    ['{"a":{"__proto__":{}}}', "a member called __proto__ at /a"],
    ['{"\\u005f_proto__":1}', "a member called __proto__ at /"],
    ['{"a":"b\\u0000"}', "a NUL character at /a"],
    ['{"a":[1,1e999]}', "a number out of range at /a/1"],
    ["-1e999", "a number out of range at /"],
  ])("%s is refused, saying where", (body, why) => {
    expect(problem(body)).toBe(`the body holds ${why}`);
  });
});
