import { describe, expect, test } from "vitest";
import type { RunEventDoc } from "../../../protocol/events.ts";
import { atOnce, turnsOf } from "../../../testing/at-once.ts";
import { areEquivalent, diffEvents } from "./diff-runs.ts";

const EVENT: RunEventDoc = {
  eventId: "evt-01k4aaaaaaaaaaaaaaaaaaaaaa",
  runId: "run-01k4aaaaaaaaaaaaaaaaaaaaaa",
  type: "node.completed",
  nodeId: "draft",
  payload: { outputs: { text: "hello" } },
  timestamp: "2027-01-31T12:00:00.000Z",
  sequence: 3,
};

const differ = (...given: Parameters<typeof diffEvents>) => atOnce(diffEvents(...given));

describe("two events at one sequence", () => {
  test("say the same whatever their ids and times are", () => {
    const other = { eventId: "evt-01k4bbbbbbbbbbbbbbbbbbbbbb", runId: "run-01k4bbbbbbbbbbbbbbbbbbbbbb" };
    expect(differ(3, EVENT, { ...EVENT, ...other, timestamp: "2028-01-31T12:00:00.000Z" })).toBeUndefined();
  });

  test.each<[string, Partial<RunEventDoc>]>([
    ["type", { type: "node.skipped" }],
    ["node", { nodeId: "review" }],
    ["payload", { payload: { outputs: { text: "bye" } } }],
  ])("differ by their %s alone", (_, change) => {
    const changed = { ...EVENT, ...change };
    expect(differ(3, EVENT, changed)).toEqual({ seq: 3, op: "changed", aEvent: EVENT, bEvent: changed });
  });

  test("are added or removed where one is missing", () => {
    expect(differ(3, EVENT, undefined)).toEqual({ seq: 3, op: "removed", aEvent: EVENT });
    expect(differ(3, undefined, EVENT)).toEqual({ seq: 3, op: "added", bEvent: EVENT });
  });
});

const same = (a: unknown, b: unknown) => atOnce(areEquivalent(a, b));
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
  expect(turnsOf(areEquivalent(large(), large()))).toBeGreaterThan(15);
});
