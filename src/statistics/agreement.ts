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
export class PairTally {
  #items = 0;
  #agreed = 0;
  readonly #first = new Map<Value, number>();
  readonly #second = new Map<Value, number>();

  get items(): number {
    return this.#items;
  }

  add(first: Value, second: Value): void {
    this.#items += 1;
    if (first === second) this.#agreed += 1;
    addTo(this.#first, first, 1);
    addTo(this.#second, second, 1);
  }

  cohenKappa(): CohenKappa {
    const items = this.#items;
    const none = { items, observed: null, expected: null, standardError: null, interval: null };
    if (items === 0) return { ...undefinedFor("no_common_items"), ...none };
    const observed = this.#agreed / items;
    const expected = sum([...this.#first].map(([value, n]) => n * (this.#second.get(value) ?? 0))) / items ** 2;
    if (isCertain(expected)) return { ...undefinedFor("no_variation"), ...none, observed, expected };
    const value = (observed - expected) / (1 - expected);
    const standardError = Math.sqrt((observed * (1 - observed)) / (items * (1 - expected) ** 2));
    return { value, items, observed, expected, standardError, interval: intervalOf(value, standardError) };
  }
}

export function cohenKappa(pairs: readonly (readonly [Value, Value])[]): CohenKappa {
  const tally = new PairTally();
  for (const [first, second] of pairs) tally.add(first, second);
  return tally.cohenKappa();
}

/** For complete agreement or disagreement the formula gives an interval of no width, which would claim certainty. */
function intervalOf(value: number, standardError: number): CohenKappa["interval"] {
  if (standardError === 0) return null;
  const low = Math.max(-1, value - Z95 * standardError);
  const high = Math.min(1, value + Z95 * standardError);
  return { low, high, method: "standard_error" };
}

export type FleissKappa = Figure & {
  readonly items: number;
  readonly ratingsPerItem: number | null;
  readonly observed: number | null;
  readonly expected: number | null;
};

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

function addTo<K>(counts: Map<K, number>, key: K, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

export const METRICS = ["nominal", "ordinal", "interval", "ratio"] as const;
export type Metric = (typeof METRICS)[number];

export type KrippendorffAlpha = Figure & {
  readonly metric: Metric;
  /** Items with two judgments or more, and the judgments on them. */
  readonly items: number;
  readonly ratings: number;
};

/** The judgments with one value, on items with two judgments or more. */
interface ValueTally {
  judgments: number;
  items: number;
  /** Pairs with each other value on one item, as in the coincidence matrix. */
  readonly others: Map<Value, number>;
}

/** Agreement of any number of reviewers. Items are added one by one, so that the caller can pause in between; the figures depend on counts only. */
export class AgreementTally {
  readonly #values = new Map<Value, ValueTally>();
  readonly #sizes = new Set<number>();
  #items = 0;
  #paired = 0;
  #agreed = 0;
  #ratings = 0;
  #agreeingPairs = 0;

  /** The judgments on one item. */
  add(unit: readonly Value[]): void {
    this.#items += 1;
    this.#sizes.add(unit.length);
    if (unit.length < 2) return;
    this.#paired += 1;
    this.#ratings += unit.length;
    const counts = [...countEach(unit)];
    if (counts.length === 1) this.#agreed += 1;
    for (const [value, n] of counts) {
      this.#agreeingPairs += n * (n - 1);
      const tally = this.#values.get(value) ?? { judgments: 0, items: 0, others: new Map<Value, number>() };
      this.#values.set(value, tally);
      tally.judgments += n;
      tally.items += 1;
      for (const [other, m] of counts) if (other !== value) addTo(tally.others, other, (n * m) / (unit.length - 1));
    }
  }

  /** Items with two judgments or more. */
  get paired(): number {
    return this.#paired;
  }

  /** Of those, how many all judged alike. */
  get agreed(): number {
    return this.#agreed;
  }

  /** Fleiss 1971: agreement of the same number of reviewers on each item, who need not be the same ones. */
  fleissKappa(): FleissKappa {
    const items = this.#items;
    const [ratingsPerItem = 0] = this.#sizes;
    const none = { items, ratingsPerItem: null, observed: null, expected: null };
    if (this.#sizes.size > 1) return { ...undefinedFor("unequal_counts"), ...none };
    if (ratingsPerItem < 2) return { ...undefinedFor("no_common_items"), ...none };
    const observed = this.#agreeingPairs / (ratingsPerItem * (ratingsPerItem - 1)) / items;
    const expected = sum([...this.#values.values()].map(({ judgments }) => (judgments / this.#ratings) ** 2));
    if (isCertain(expected)) return { ...undefinedFor("no_variation"), items, ratingsPerItem, observed, expected };
    return { value: (observed - expected) / (1 - expected), items, ratingsPerItem, observed, expected };
  }

  /**
   * Krippendorff 2011, by the coincidence matrix: agreement of any number of reviewers with gaps. Items with one judgment
   * are left out. All but the nominal metric need numbers.
   */
  krippendorffAlpha(metric: Metric): KrippendorffAlpha {
    const ratings = this.#ratings;
    const about = { metric, items: this.#paired, ratings };
    if (ratings === 0) return { ...undefinedFor("no_common_items"), ...about };
    const distance = distances(metric, new Map([...this.#values].map(([value, { judgments }]) => [value, judgments])));
    let observed = 0;
    let expected = 0;
    for (const [a, { judgments, others }] of this.#values) {
      for (const [b, pairs] of others) observed += pairs * distance(a, b);
      for (const [b, { judgments: m }] of this.#values) if (a !== b) expected += judgments * m * distance(a, b);
    }
    if (expected === 0) return { ...undefinedFor("no_variation"), ...about };
    return { value: 1 - ((ratings - 1) * observed) / expected, ...about };
  }

  /** Krippendorff's alpha of each value against all others. */
  byValue(): ({ readonly given: Value; readonly judgments: number; readonly items: number } & Figure)[] {
    return [...this.#values].map(([given, { judgments, items, others }]) => {
      const observed = sum([...others.values()]);
      const expected = judgments * (this.#ratings - judgments);
      const alpha: Figure =
        expected === 0 ? undefinedFor("no_variation") : { value: 1 - ((this.#ratings - 1) * observed) / expected };
      return { given, judgments, items, ...alpha };
    });
  }
}

export function tallied(units: Iterable<readonly Value[]>): AgreementTally {
  const tally = new AgreementTally();
  for (const unit of units) tally.add(unit);
  return tally;
}

type Distance = (a: Value, b: Value) => number;

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
