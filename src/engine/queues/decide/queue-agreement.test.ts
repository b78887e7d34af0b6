import { expect, test } from "vitest";
import { tallied } from "../../../statistics/agreement.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { QueueTally, type Vote } from "./queue-agreement.ts";

const LABELS = 40;

function figuresOf(items: readonly (readonly Vote[])[]) {
  const tally = new QueueTally();
  for (const votes of items) tally.add(votes);
  return tally.figures("label");
}

function someItems(): Vote[][] {
  const random = randomFrom(20_251_118);
  const vote = (reviewer: number): Vote => {
    return { reviewer: `r${reviewer}`, kind: "person", value: `label ${Math.floor(random() ** 2 * LABELS)}` };
  };
  return Array.from({ length: 300 }, () => Array.from({ length: 1 + Math.floor(random() * 4) }, (_, i) => vote(i)));
}

test("the figure of each label is Krippendorff's alpha of that label against all others", () => {
  const items = someItems();
  const units = items.filter((votes) => votes.length > 1).map((votes) => votes.map(({ value }) => value));
  const { byValue } = figuresOf(items);
  expect(byValue.length).toBeGreaterThan(LABELS / 2);
  for (const { given, judgments, items: count, value } of byValue) {
    const alone = units.map((unit) => unit.map((one) => one === given));
    expect(value).toBeCloseTo(tallied(alone).krippendorffAlpha("nominal").value ?? Number.NaN, 12);
    expect(judgments).toBe(alone.flat().filter(Boolean).length);
    expect(count).toBe(alone.filter((unit) => unit.includes(true)).length);
  }
});

test("there is no figure of the only label", () => {
  const vote = (reviewer: string): Vote => ({ reviewer, kind: "person", value: "pass" });
  const { byValue } = figuresOf([[vote("a"), vote("b")]]);
  expect(byValue).toEqual([{ given: "pass", judgments: 2, items: 1, value: null, reason: "no_variation" }]);
});
