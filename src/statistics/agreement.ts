import { Z95 } from "./wilson.ts";

/** A category or a number that a person gave. */
export type Value = string | number | boolean;

/** Why there is no figure: never 0 or NaN in its place. */
export const UNDEFINED_REASONS = ["no_common_items", "unequal_counts", "no_variation"] as const;
export type UndefinedReason = (typeof UNDEFINED_REASONS)[number];

export type Figure = { readonly value: number } | { readonly value: null; readonly reason: UndefinedReason };

export function undefinedFor(reason: UndefinedReason): { readonly value: null; readonly reason: UndefinedReason } {
  return { value: null, reason };
}

export function countEach<T>(values: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/**
 * Chance agreement is complete when only one category was ever used; then agreement cannot be measured. The difference to 1 is
 * compared with the rounding error.
 */
export function isCertain(chance: number): boolean {
  return 1 - chance < 1e-12;
}

export type CohenKappa = Figure & {
  /** Items that both judged. */
  readonly items: number;
  readonly observed: number | null;
  readonly expected: number | null;
  readonly standardError: number | null;
  /** The 95 % interval from the standard error; rough for few items. */
  readonly interval: { readonly low: number; readonly high: number; readonly method: "standard_error" } | null;
};

/** Agreement of two reviewers on the items that both judged, beyond what their habits would give by chance. */
export function cohenKappa(pairs: readonly (readonly [Value, Value])[]): CohenKappa {
  const items = pairs.length;
  const none = { items, observed: null, expected: null, standardError: null, interval: null };
  if (items === 0) return { ...undefinedFor("no_common_items"), ...none };
  const observed = pairs.filter(([first, second]) => first === second).length / items;
  const expected = chanceOf(pairs);
  if (isCertain(expected)) return { ...undefinedFor("no_variation"), ...none, observed, expected };
  const value = (observed - expected) / (1 - expected);
  const standardError = Math.sqrt((observed * (1 - observed)) / (items * (1 - expected) ** 2));
  return { value, items, observed, expected, standardError, interval: intervalOf(value, standardError) };
}

/** For complete agreement or disagreement the formula gives an interval of no width, which would claim certainty. */
function intervalOf(value: number, standardError: number): CohenKappa["interval"] {
  if (standardError === 0) return null;
  const low = Math.max(-1, value - Z95 * standardError);
  const high = Math.min(1, value + Z95 * standardError);
  return { low, high, method: "standard_error" };
}

function chanceOf(pairs: readonly (readonly [Value, Value])[]): number {
  const first = countEach(pairs.map(([value]) => value));
  const second = countEach(pairs.map(([, value]) => value));
  let sum = 0;
  for (const [value, count] of first) sum += count * (second.get(value) ?? 0);
  return sum / pairs.length ** 2;
}

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

export const METRICS = ["nominal", "ordinal", "interval", "ratio"] as const;
export type Metric = (typeof METRICS)[number];

export type KrippendorffAlpha = Figure & {
  readonly metric: Metric;
  /** Items with two judgments or more, and the judgments on them. */
  readonly items: number;
  readonly ratings: number;
};

/**
 * Krippendorff 2011, by the coincidence matrix: agreement of any number of reviewers with gaps. Items with one judgment
 * are left out. All but the nominal metric need numbers.
 */
export function krippendorffAlpha(units: readonly (readonly Value[])[], metric: Metric): KrippendorffAlpha {
  const paired = units.filter((unit) => unit.length > 1);
  const totals = countEach(paired.flat());
  const ratings = paired.flat().length;
  const about = { metric, items: paired.length, ratings };
  if (ratings === 0) return { ...undefinedFor("no_common_items"), ...about };
  const distance = distances(metric, totals);
  let observed = 0;
  for (const unit of paired) {
    const counts = [...countEach(unit)];
    observed += overPairs(counts, distance) / (unit.length - 1);
  }
  const expected = overPairs([...totals], distance);
  if (expected === 0) return { ...undefinedFor("no_variation"), ...about };
  return { value: 1 - ((ratings - 1) * observed) / expected, ...about };
}

type Distance = (a: Value, b: Value) => number;

function overPairs(counts: readonly (readonly [Value, number])[], distance: Distance): number {
  let sum = 0;
  counts.forEach(([a, n], i) => {
    for (const [b, m] of counts.slice(i + 1)) sum += n * m * distance(a, b);
  });
  return sum;
}

/** The squared distance of two values. */
function distances(metric: Metric, totals: ReadonlyMap<Value, number>): Distance {
  switch (metric) {
    case "nominal":
      return (a, b) => (a === b ? 0 : 1);
    case "ordinal":
      return ordinal(totals);
    case "interval":
      return (a, b) => (Number(a) - Number(b)) ** 2;
    case "ratio":
      return (a, b) => (a === b ? 0 : ((Number(a) - Number(b)) / (Number(a) + Number(b))) ** 2);
  }
}

/** Ordinal distance: the number of judgments between two ranks, with half of the judgments at each rank. */
function ordinal(totals: ReadonlyMap<Value, number>): Distance {
  const ranks = [...totals].map(([value, count]) => [Number(value), count] as const).sort(([a], [b]) => a - b);
  const middle = new Map<number, number>();
  let below = 0;
  for (const [value, count] of ranks) {
    middle.set(value, below + count / 2);
    below += count;
  }
  return (a, b) => ((middle.get(Number(a)) ?? 0) - (middle.get(Number(b)) ?? 0)) ** 2;
}
