import { expect, test } from "vitest";
import { Budget } from "./budget.ts";

function spent(limitUsd: number | undefined, ...costs: (number | undefined)[]) {
  const budget = new Budget(limitUsd);
  for (const cost of costs) budget.spend(cost);
  return budget.overspent();
}

test("a budget lasts until more than all of it is spent", () => {
  expect(spent(1)).toBeUndefined();
  expect(spent(1, 0.5, 0.5)).toBeUndefined();
  expect(spent(1, 0.5, 0.5, 0.25)).toEqual({ spentUsd: 1.25 });
  expect(spent(0, 0)).toBeUndefined();
});

test("a budget is over once a price is missing, whatever comes after it", () => {
  expect(spent(1, undefined, 0.1)).toEqual({});
});

test("without a budget anything may be spent", () => {
  expect(spent(undefined, 1e9, undefined)).toBeUndefined();
});
