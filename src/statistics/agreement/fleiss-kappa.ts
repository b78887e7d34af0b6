import { countEach, type Figure, isCertain, undefinedFor, type Value } from "./figure.ts";

export type FleissKappa = Figure & {
  readonly items: number;
  readonly ratingsPerItem: number | null;
  readonly observed: number | null;
  readonly expected: number | null;
};

/** Fleiss 1971: agreement of the same number of reviewers on each item, who need not be the same ones. */
export function fleissKappa(units: readonly (readonly Value[])[]): FleissKappa {
  const items = units.length;
  const ratingsPerItem = units[0]?.length ?? 0;
  const none = { items, ratingsPerItem: null, observed: null, expected: null };
  if (units.some((unit) => unit.length !== ratingsPerItem)) return { ...undefinedFor("unequal_counts"), ...none };
  if (ratingsPerItem < 2) return { ...undefinedFor("no_common_items"), ...none };
  const pairs = ratingsPerItem * (ratingsPerItem - 1);
  const agreeing = units.map((unit) => sum([...countEach(unit).values()].map((n) => n * (n - 1))) / pairs);
  const observed = sum(agreeing) / items;
  const total = items * ratingsPerItem;
  const expected = sum([...countEach(units.flat()).values()].map((n) => (n / total) ** 2));
  if (isCertain(expected)) return { ...undefinedFor("no_variation"), items, ratingsPerItem, observed, expected };
  return { value: (observed - expected) / (1 - expected), items, ratingsPerItem, observed, expected };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
