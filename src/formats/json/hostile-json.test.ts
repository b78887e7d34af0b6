import { describe, expect, test } from "vitest";
import { type JsonObject, readJson, Unreadable } from "./exact-json.ts";
import { freeForm, printFreeForm } from "./print-json.ts";

// None of these says how long it took. What takes more than linear time here, or a call per character, does not end in time or at all.
describe("a reader that somebody means harm", () => {
  test("takes a string of ten million characters", () => {
    expect((readJson(`"${"№".repeat(10_000_000)}"`) as string).length).toBe(10_000_000);
  });

  test("takes a million escapes", () => {
    expect(readJson(`"${"\\u00e9\\n".repeat(500_000)}"`)).toBe("é\n".repeat(500_000));
  });

  test("refuses a number of millions of digits", () => {
    expect(() => readJson("1".repeat(50_000_000))).toThrow(Unreadable);
    expect(() => readJson(`1e${"1".repeat(10_000_000)}`)).toThrow(Unreadable);
    expect(readJson(`0.${"1".repeat(10_000_000)}`)).toBe(1 / 9);
  });

  test("refuses a million open brackets", () => {
    expect(() => readJson("[".repeat(1_000_000))).toThrow("nested more than 127 deep");
    expect(() => readJson('{"a":'.repeat(1_000_000))).toThrow("nested more than 127 deep");
  });

  test("takes a hundred thousand members with one name, and keeps the last in a value that is free", () => {
    const text = `{${'"x":1,'.repeat(100_000)}"x":2}`;
    expect((readJson(text) as JsonObject).members.length).toBe(100_001);
    expect(printFreeForm(freeForm(readJson(text)))).toBe('{"x":2}');
  });

  test("sorts a hundred thousand names", () => {
    const names = Array.from({ length: 100_000 }, (_, i) => String((i * 7919) % 100_000).padStart(6, "0"));
    const text = `{${names.map((name) => `"${name}":0`).join(",")}}`;
    const sorted = [...names].sort().map((name) => `"${name}":0`);
    expect(printFreeForm(freeForm(readJson(text)))).toBe(`{${sorted.join(",")}}`);
  });

  test("takes a list of a million values and ten million spaces", () => {
    expect(readJson(`[${"0,".repeat(999_999)}0]`)).toHaveLength(1_000_000);
    expect(readJson(`${" ".repeat(10_000_000)}0`)).toBe(0n);
  });
});
