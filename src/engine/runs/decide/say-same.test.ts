import { describe, expect, test } from "vitest";
import { atOnce, turnsOf } from "../../../testing/at-once.ts";
import { saySame } from "./say-same.ts";

const same = (a: unknown, b: unknown) => atOnce(saySame(a, b));
const id = (letter: string) => `run-01k4${letter.repeat(22)}`;

describe("two values say the same", () => {
  test.each<[string, unknown, unknown]>([
    ["whatever order their members have", { a: 1, b: [2, { c: null }] }, { b: [2, { c: null }], a: 1 }],
    ["whatever ids they name", { by: `after ${id("a")}`, [id("a")]: 1 }, { by: `after ${id("b")}`, [id("b")]: 1 }],
    ["whatever their times are", { n: 1, decidedAt: "then", durationMs: 5 }, { n: 1, decidedAt: "now" }],
    ["however long a run took", { kind: "run-duration", observed: 5 }, { kind: "run-duration", observed: 7 }],
    ["whether zero has a sign or not", { n: 0 }, { n: -0 }],
  ])("%s", (_, a, b) => {
    expect([same(a, b), same(b, a)]).toEqual([true, true]);
  });
});

describe("two values differ", () => {
  test.each<[string, unknown, unknown]>([
    ["by a number", { a: [1, 2] }, { a: [1, 3] }],
    ["by a text", "one", "two"],
    ["by the kind of a value", { a: "1" }, { a: 1 }],
    ["by null", { a: null }, { a: {} }],
    ["by a list in place of an object", { a: [] }, { a: {} }],
    ["by an item more", [1], [1, 1]],
    ["by a member more", { a: 1 }, { a: 1, b: null }],
    ["by the name of a member", { a: 1 }, { b: 1 }],
    [
      "by a member of another kind that is called observed",
      { kind: "other", observed: 1 },
      { kind: "other", observed: 2 },
    ],
    ["by what is deep inside", { a: { b: { c: [[1]] } } }, { a: { b: { c: [[2]] } } }],
  ])("%s", (_, a, b) => {
    expect([same(a, b), same(b, a)]).toEqual([false, false]);
  });
});

test("others have their turn while large values are compared", () => {
  const large = () => Array.from({ length: 50 }, () => Array.from({ length: 200 }, (_, n) => ({ n })));
  expect(turnsOf(saySame(large(), large()))).toBeGreaterThan(15);
});
