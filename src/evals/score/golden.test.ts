import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { GoldenMatch, MatchStrategy } from "../../protocol/evals/eval-suite.ts";
import { randomJsonText } from "../../testing/random-json.ts";
import { pick, type Random, randomFrom } from "../../testing/random-workflow.ts";
import { differenceLines } from "./difference.ts";
import { scoreGolden } from "./golden.ts";

function score(strategy: MatchStrategy, value: unknown, output: unknown): number {
  return scoreGolden({ strategy, value }, output).score;
}

function lines(match: GoldenMatch, output: unknown): string[] {
  const { difference } = scoreGolden(match, output);
  return difference === undefined ? [] : differenceLines(difference);
}

describe("an exact match", () => {
  test.each([
    ["hello", "hello", 1],
    ["hello", "Hello", 0],
    ["hello", "hello\n", 0],
    ["", "", 1],
    ["42", 42, 1],
    [42, "42", 1],
    [{ a: 1, b: 2 }, { a: 1, b: 2 }, 1],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, 0],
    [{ a: 1 }, '{"a":1}', 1],
    [{ a: 1 }, '{ "a": 1 }', 0],
    [null, null, 1],
    [null, "null", 1],
    ["", null, 0],
    [1, 1.0, 1],
    ["é", "e\u0301", 0],
  ])("of %j and %j is %d", (value, output, expected) => {
    expect(score("exact", value, output)).toBe(expected);
  });
});

describe("a contains match", () => {
  test.each([
    ["30 days", "within 30 days of delivery", 1],
    ["30 days", "within 30  days", 0],
    ["30 Days", "within 30 days", 0],
    ['"status":"ok"', { status: "ok", id: 7 }, 1],
    [{ status: "ok" }, { wrapped: { status: "ok" } }, 1],
    [42, "the answer is 42.", 1],
    ["", "anything", 1],
    ["x", "", 0],
    ["a.c", "abc", 0],
  ])("of %j in %j is %d", (value, output, expected) => {
    expect(score("contains", value, output)).toBe(expected);
  });
});

describe("a JSON match", () => {
  test.each([
    [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, 1],
    [{ a: 1, b: [1, 2] }, { b: [2, 1], a: 1 }, 0],
    [{ a: 1 }, '{ "a" : 1.0 }\n', 1],
    [{ a: 1 }, { a: "1" }, 0],
    [{ a: 1 }, { a: 1, b: 2 }, 0],
    [{ a: 1, b: null }, { a: 1 }, 0],
    [1, "1e0", 1],
    [0, "-0", 1],
    ["42", "42", 1],
    [42, "42", 1],
    ["yes", '"yes"', 1],
    ["yes", "yes", 1],
    [null, "null", 1],
    [null, undefined, 0],
    [{ a: 1 }, '```json\n{"a":1}\n```', 0],
    [[], {}, 0],
    [{ toString: 1 }, {}, 0],
  ])("of %j and %j is %d", (value, output, expected) => {
    expect(score("json-match", value, output)).toBe(expected);
  });

  test("agrees with another equality about random values, printed in any way", () => {
    const random = randomFrom(21);
    const seen = [0, 0];
    for (let i = 0; i < 3000; i++) {
      const expected: unknown = JSON.parse(randomJsonText(random));
      const output = random() < 0.5 ? JSON.parse(randomJsonText(random, 1)) : changed(expected, random);
      const equal = isDeepStrictEqual(withoutSigns(expected), withoutSigns(output));
      expect(score("json-match", expected, output), JSON.stringify({ expected, output })).toBe(
        equal || isDeepStrictEqual(withoutSigns(expected), withoutSigns(said(output))) ? 1 : 0,
      );
      expect(score("json-match", expected, reordered(expected, random))).toBe(1);
      expect(score("json-match", expected, JSON.stringify(reordered(expected, random), null, "\t"))).toBe(1);
      const at = equal ? 1 : 0;
      seen[at] = (seen[at] ?? 0) + 1;
    }
    expect(Math.min(...seen)).toBeGreaterThan(100);
  });
});

/** What a text says when it is JSON. */
function said(output: unknown): unknown {
  try {
    return typeof output === "string" ? JSON.parse(output) : output;
  } catch {
    return output;
  }
}

function withoutSigns(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function reordered(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((item) => reordered(item, random));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, reordered(member, random)] as const);
  return Object.fromEntries(random() < 0.5 ? entries.reverse() : entries);
}

function changed(value: unknown, random: Random): unknown {
  if (random() < 0.3) return value;
  if (typeof value !== "object" || value === null) return pick(random, [value, 1, "1", null, "", false]);
  const [first] = Object.keys(value);
  if (first === undefined) return pick<unknown>(random, [value, [], {}, null]);
  const member = changed((value as Record<string, unknown>)[first], random);
  if (Array.isArray(value)) return value.with(0, member);
  return { ...value, [first]: member };
}

describe("the difference that is shown", () => {
  test("is empty for a match", () => {
    expect(scoreGolden({ strategy: "exact", value: "a" }, "a")).toEqual({ score: 1 });
  });

  test("of JSON is told place by place", () => {
    const value = { id: 7, items: ["a", "b"], total: 12.5 };
    expect(lines({ strategy: "json-match", value }, '{"items":["a","c"],"total":12.5,"note":"hi"}')).toEqual([
      "3 places differ.",
      '/items/1: expected "b", got "c"',
      '/note: not expected, got "hi"',
      "/id: expected 7, got nothing",
    ]);
  });

  test("of one line shows where the words part and meet again", () => {
    expect(lines({ strategy: "exact", value: "refund within 30 days please" }, "refund within 14 days please")).toEqual(
      [
        "The output is another text.",
        "expected: refund within [30] days please",
        "output:   refund within [14] days please",
      ],
    );
  });

  test("of long texts begins where they part, also inside one word and inside JSON", () => {
    const [old, young] = [`${"x".repeat(50_000)}-old`, `${"x".repeat(50_000)}-new`];
    const context = `…${"x".repeat(59)}-`;
    expect(lines({ strategy: "exact", value: old }, young)).toEqual([
      "The output is another text.",
      `expected: ${context}[old]`,
      `output:   ${context}[new]`,
    ]);
    expect(lines({ strategy: "json-match", value: { id: old } }, { id: young })).toEqual([
      "1 place differs.",
      `/id: expected "${context}old", got "${context}new"`,
    ]);
  });

  test("of a text where JSON was expected shows both", () => {
    expect(lines({ strategy: "json-match", value: { refund: true } }, "Sure, you get it back.").slice(1)).toEqual([
      'expected: {"refund":true}',
      "output:   Sure, you get it back.",
    ]);
  });

  test("of several lines is a diff", () => {
    const shown = lines({ strategy: "exact", value: "one\ntwo\nthree\n" }, "one\n2\nthree\n");
    expect(shown.slice(1)).toEqual(["--- expected", "+++ output", "@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]);
  });

  test.each([
    ["exact", "hello", " hello\n", "only white space at the ends is different"],
    ["exact", "a b", "a  b", "only white space is different"],
    ["exact", "Hello there", "hello  there", "only capital and small letters, or white space, are different"],
    ["exact", "hello", "```\nhello\n```", "it stands inside a code fence"],
    ["contains", "30 days", "within 30\ndays", "only white space is different"],
    ["contains", "Paris", "paris, of course", "only capital and small letters, or white space, are different"],
    ["json-match", { a: 1 }, '```json\n{"a":1}\n```', "JSON inside a code fence"],
    ["json-match", { a: 1 }, "sorry", "the output is a text that is not JSON"],
  ] as const)("says when it is little: %s of %j and %j", (strategy, value, output, hint) => {
    expect(lines({ strategy, value }, output)[0]).toContain(hint);
  });

  test("is bounded, however long the two are", () => {
    const long = Array.from({ length: 200_000 }, (_, i) => `line ${i}`).join("\n");
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, "x".repeat(100)]));
    const cases: [GoldenMatch, unknown][] = [
      [{ strategy: "exact", value: long }, long.replaceAll("line", "row")],
      [{ strategy: "exact", value: long }, `${long}.`],
      [{ strategy: "exact", value: "a ".repeat(500_000) }, "b ".repeat(500_000)],
      [{ strategy: "contains", value: "needle" }, long],
      [{ strategy: "json-match", value: {} }, wide],
      [
        { strategy: "json-match", value: wide },
        JSON.stringify({ ...wide, ["y".repeat(1_000_000)]: "z".repeat(1_000_000) }),
      ],
    ];
    for (const [match, output] of cases) {
      const shown = lines(match, output);
      expect(shown.join("\n").length).toBeLessThan(65_000);
      expect(shown.length).toBeGreaterThan(0);
    }
  });
});

describe("an output that is built to break its reader", () => {
  const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  test("by its depth is wrong, and nothing else happens", () => {
    for (const strategy of ["exact", "contains", "json-match"] as const) {
      const asValue = scoreGolden({ strategy, value: "x" }, JSON.parse(deep(50_000)));
      expect(asValue).toEqual({
        score: 0,
        difference: { kind: "none", summary: expect.stringContaining("nested deeper") },
      });
      expect(scoreGolden({ strategy, value: "x" }, deep(50_000)).score).toBe(0);
    }
  });

  test("by its periods is searched in time proportional to its length", () => {
    const half = "a".repeat(100_000);
    const before = process.cpuUsage();
    expect(scoreGolden({ strategy: "contains", value: `${half}b${half}` }, "a".repeat(500_000)).score).toBe(0);
    expect(
      scoreGolden({ strategy: "contains", value: `${"a".repeat(25_000)}b${"a".repeat(25_000)}` }, "a".repeat(100_000))
        .score,
    ).toBe(0);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(1500);
  });

  test("by its names is compared like any other", () => {
    const output = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as unknown;
    expect(score("json-match", { constructor: 2 }, output)).toBe(0);
    expect(score("json-match", JSON.parse('{"constructor":2,"__proto__":{"a":1.0}}'), output)).toBe(1);
  });
});
