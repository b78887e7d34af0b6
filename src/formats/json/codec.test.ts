import { describe, expect, test } from "vitest";
import * as codec from "./codec.ts";
import { type JsonObject, readJson, Unreadable } from "./exact-json.ts";

const read = <T>(of: codec.Codec<T>, text: string): T => of.read(readJson(text));

describe("an integer of a format", () => {
  test.each([
    ["u32", codec.u32, "0", "4294967295"],
    ["i32", codec.i32, "-2147483648", "2147483647"],
    ["u64", codec.u64, "0", "18446744073709551615"],
    ["i64", codec.i64, "-9223372036854775808", "9223372036854775807"],
  ])("has its borders: %s", (_, of, least, most) => {
    for (const text of [least, most]) expect(of.print(read(of, text))).toBe(text);
    const outside = [String(BigInt(least) - 1n), String(BigInt(most) + 1n)];
    const others = ["1.0", "1e0", "-0", "null", '"1"', "[1]", "{}", "true"];
    for (const text of [...outside, ...others]) expect(() => read(of, text), text).toThrow(Unreadable);
  });
});

describe("an object of a format", () => {
  const point = codec.object({
    x: codec.u32,
    name: codec.optional(codec.text),
    tags: codec.withDefault(codec.list(codec.text), []),
  });

  test("is written with all its members in the order of the table", () => {
    expect(point.print(read(point, '{"tags":["b","a"],"name":"n","x":1}'))).toBe('{"x":1,"name":"n","tags":["b","a"]}');
    expect(point.print(read(point, '{"x":1}'))).toBe('{"x":1,"name":null,"tags":[]}');
  });

  test("loses unknown members, also those that are repeated or have names of every object", () => {
    const text = '{"y":1,"x":1,"y":{},"__proto__":1,"constructor":2,"constructor":3,"toString":4,"toString":5}';
    expect(point.print(read(point, text))).toBe('{"x":1,"name":null,"tags":[]}');
  });

  test.each(["x", "name", "tags"])("may not have a known member twice: %s", (name) => {
    const values: Readonly<Record<string, string>> = { x: "1", name: "null", tags: "[]" };
    const twice = `"${name}":${values[name]},"${name}":${values[name]}`;
    const text = name === "x" ? `{${twice}}` : `{"x":1,${twice}}`;
    expect(() => read(point, text)).toThrow(`\`${name}\` is there twice`);
  });

  test("knows a name in whatever way it is spelled", () => {
    expect(read(point, String.raw`{"\u0078":1}`).x).toBe(1n);
    expect(() => read(point, String.raw`{"x":1,"\u0078":1}`)).toThrow("`x` is there twice");
  });

  test("tells none, a default and what is missing apart", () => {
    expect(read(point, '{"x":1,"name":null}').name).toBeNull();
    expect(() => read(point, '{"x":1,"tags":null}')).toThrow("`tags`: null where a list is expected");
    expect(() => read(point, "{}")).toThrow("`x` is missing");
    expect(() => read(point, '{"x":null}')).toThrow("`x`: null where an integer");
  });

  test("is not a list of its values, nor anything else", () => {
    for (const text of ['[1,"n",[]]', '"x"', "1", "null", "true"]) expect(() => read(point, text)).toThrow(Unreadable);
  });

  test("says of a long value only what it is", () => {
    expect(() => read(point, `{"x":"${"y".repeat(1000)}"}`)).toThrow("`x`: a string where an integer");
    expect(() => read(point, '{"x":"1"}')).toThrow('`x`: "1" where an integer');
    expect(() => read(point, '{"x":{}}')).toThrow("`x`: an object where an integer");
    expect(() => read(point, '{"x":1.0}')).toThrow("`x`: 1.0 where an integer");
    expect(() => read(point, '{"x":"\\u001b\u009b31m\u202e"}')).toThrow('`x`: "\\u001b\\u009b31m\\u202e" where');
  });
});

describe("one of a list of words", () => {
  const colour = codec.word("red", "green");

  test("is exactly that word", () => {
    expect(read(colour, '"red"')).toBe("red");
    for (const text of ['"Red"', '"red "', '""', "null", '{"red":null}', "0"]) {
      expect(() => read(colour, text), text).toThrow(Unreadable);
    }
  });
});

describe("the tag of an object", () => {
  test("is a string and there once", () => {
    expect(codec.tagOf(readJson('{"a":1,"type":"x"}'), "type")).toBe("x");
    expect(() => codec.tagOf(readJson('{"type":"x","type":"x"}'), "type")).toThrow("`type` is there twice");
    expect(() => codec.tagOf(readJson('{"type":1}'), "type")).toThrow("`type` is not a string");
    expect(() => codec.tagOf(readJson('{"a":1}'), "type")).toThrow("`type` is missing");
    for (const text of ["[]", "null", '["x"]', '"type"']) {
      expect(() => codec.tagOf(readJson(text), "type")).toThrow(Unreadable);
    }
  });

  test("is found among a hundred thousand other members", () => {
    const object = readJson(`{${'"x":1,'.repeat(100_000)}"type":"x","n":1}`) as JsonObject;
    expect(codec.tagOf(object, "type")).toBe("x");
    expect(codec.readMembers(object, { n: codec.u32 })).toEqual({ n: 1n });
  });
});
