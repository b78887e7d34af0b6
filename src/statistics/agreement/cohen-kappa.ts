import { Z95 } from "../wilson.ts";
import { countEach, type Figure, isCertain, undefinedFor, type Value } from "./figure.ts";

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
