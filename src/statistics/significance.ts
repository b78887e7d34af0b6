import type { ScoreTest, TasksNeeded } from "../protocol/evals/eval-statistics.ts";
import { Random } from "./bootstrap.ts";
import { Z95 } from "./wilson.ts";

/**
 * The exact two-sided test of McNemar: how often chance alone would split `lost + gained` changed tasks at least this unevenly.
 * Computed in whole numbers, so nothing underflows or is rounded before the end, however many tasks changed.
 */
export function mcnemar(lost: number, gained: number): number {
  const changed = lost + gained;
  const fewer = Math.min(lost, gained);
  let ways = 1n;
  let term = 1n;
  for (let i = 1; i <= fewer; i++) {
    term = (term * BigInt(changed - i + 1)) / BigInt(i);
    ways += term;
  }
  return Math.min(1, overPowerOfTwo(ways, changed - 1));
}

/** `ways / 2^exponent`, of which neither part need fit into a number. A p-value is never 0, so neither is this. */
function overPowerOfTwo(ways: bigint, exponent: number): number {
  const bits = ways.toString(16).length * 4;
  const dropped = Math.max(0, bits - 64);
  const leading = Number(ways >> BigInt(dropped)) / 2 ** 63;
  return Math.max(Number.MIN_VALUE, leading * 2 ** (dropped + 63 - exponent));
}

/** Up to here every flip is tried. */
const ALL_FLIPS_MAX = 16;
const RANDOM_FLIPS = 10_000;

/**
 * The paired permutation test: if nothing had changed, each difference might as well have had the other sign; so how many ways of
 * setting the signs give a sum at least as far from 0? Two-sided.
 *
 * Differences of 0 have no sign. Beyond 16 pairs they are left out, which changes no probability, and often leaves few enough to
 * try every flip of the rest.
 */
export function signFlipTest(differences: readonly number[], seed: number): ScoreTest {
  if (differences.length === 0) {
    return { test: "sign_flip", p: null, reason: "nothing_counted", flips: 0, extreme: 0, all: true };
  }
  const signed =
    differences.length <= ALL_FLIPS_MAX ? differences : differences.filter((difference) => difference !== 0);
  // Only sizes, in order: neither the order of tasks nor the choice of the candidate changes the draws.
  const sizes = Float64Array.from(signed, Math.abs).sort();
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const observed = Math.abs(
    Float64Array.from(differences)
      .sort()
      .reduce((sum, difference) => sum + difference, 0),
  );
  // Sums that are equal on paper differ by rounding.
  const least = observed - total * 1e-9;
  if (sizes.length <= ALL_FLIPS_MAX) {
    const flips = 2 ** sizes.length;
    const extreme = countOfAll(sizes, least);
    return { test: "sign_flip", p: extreme / flips, flips, extreme, all: true };
  }
  const extreme = countOfRandom(sizes, total, least, seed);
  const p = (extreme + 1) / (RANDOM_FLIPS + 1);
  return { test: "sign_flip", p, flips: RANDOM_FLIPS, extreme, all: false, seed };
}

function countOfAll(sizes: Float64Array, least: number): number {
  let extreme = 0;
  for (let signs = 0; signs < 2 ** sizes.length; signs++) {
    let sum = 0;
    for (let i = 0; i < sizes.length; i++) {
      const size = sizes[i] as number;
      sum += (signs >>> i) & 1 ? -size : size;
    }
    if (Math.abs(sum) >= least) extreme++;
  }
  return extreme;
}

/** A random byte sets eight signs at once, and what each of the 256 makes of its eight sizes is added up beforehand. */
function countOfRandom(sizes: Float64Array, total: number, least: number, seed: number): number {
  const sums = sumsOfEights(sizes);
  const eights = sums.length / 256;
  const random = new Random(seed);
  const words = new Uint32Array(Math.ceil(eights / 4));
  let extreme = 0;
  for (let flip = 0; flip < RANDOM_FLIPS; flip++) {
    random.fill(words);
    let negative = 0;
    for (let eight = 0; eight < eights; eight++) {
      const signs = ((words[eight >>> 2] as number) >>> ((eight & 3) << 3)) & 255;
      negative += sums[(eight << 8) | signs] as number;
    }
    if (Math.abs(total - 2 * negative) >= least) extreme++;
  }
  return extreme;
}

function sumsOfEights(sizes: Float64Array): Float64Array {
  const sums = new Float64Array(Math.ceil(sizes.length / 8) * 256);
  for (let at = 0; at < sums.length; at++) {
    const first = (at >>> 8) << 3;
    for (let bit = 0; bit < 8; bit++) if ((at >>> bit) & 1) sums[at] = (sums[at] as number) + (sizes[first + bit] ?? 0);
  }
  return sums;
}

/**
 * Holm's step-down: p-values of several tests in one decision, each raised so that the chance of any false alarm stays what was
 * asked for. In the order given; a test without a p-value is not one of the several.
 */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const tests = pValues.flatMap((p, at) => (p === null ? [] : [{ p, at }])).sort((a, b) => a.p - b.p);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let least = 0;
  tests.forEach(({ p, at }, rank) => {
    least = Math.max(least, Math.min(1, (tests.length - rank) * p));
    adjusted[at] = least;
  });
  return adjusted;
}

/** The normal deviate below which 80 % lie. */
const Z80 = 0.8416212335729143;

/**
 * The number of tasks that would show a difference of `margin` four times out of five, if as many of them change as changed now.
 * `discordance` is the share of tasks lost or gained; for scores between 0 and 1 the mean square of the differences, which is the
 * same figure when they are all 0 or 1.
 */
export function tasksNeeded(discordance: number, margin: number): TasksNeeded {
  const none = { value: null, discordance, power: 0.8 } as const;
  if (discordance === 0) return { ...none, reason: "no_discordance" };
  const rest = discordance - margin ** 2;
  if (rest < 0) return { ...none, reason: "discordance_below_margin" };
  const value = Math.ceil((Z95 * Math.sqrt(discordance) + Z80 * Math.sqrt(rest)) ** 2 / margin ** 2);
  return { value, discordance, power: 0.8 };
}
