import type { Interval } from "../../protocol/wilson.ts";
import { indexScale, Random } from "./random.ts";

export const RESAMPLES = 10_000;

/**
 * The percentile interval of 95 % of the mean of `values`, from 10,000 samples of the same size drawn with replacement. The order
 * of the values does not matter: they are sorted first, so that the seed alone decides.
 */
export function bootstrapMean(values: readonly number[], seed: number): Interval | null {
  const count = values.length;
  if (count === 0) return null;
  const sorted = Float64Array.from(values).sort();
  // Rounding would otherwise give a mean of equal values some width.
  if (sorted[0] === sorted[count - 1]) return { low: sorted[0] as number, high: sorted[0] as number };
  const random = new Random(seed);
  const words = new Uint32Array(count);
  const scale = indexScale(count);
  const means = new Float64Array(RESAMPLES);
  for (let resample = 0; resample < RESAMPLES; resample++) {
    random.fill(words);
    let sum = 0;
    for (let i = 0; i < count; i++) sum += sorted[((words[i] as number) * scale) | 0] as number;
    means[resample] = sum / count;
  }
  return percentiles(means);
}

/** The middle 95 % of what was resampled, between two neighbours by linear interpolation. Sorts in place. */
export function percentiles(resampled: Float64Array): Interval {
  resampled.sort();
  return { low: quantile(resampled, 0.025), high: quantile(resampled, 0.975) };
}

function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (place - below);
}
