import type { ScoreTest } from "../protocol/evals/eval-statistics.ts";
import { Random } from "./random.ts";

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
