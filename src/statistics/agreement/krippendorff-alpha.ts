import { countEach, type Figure, undefinedFor, type Value } from "./figure.ts";

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
