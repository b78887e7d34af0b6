export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The normal deviate of a two-sided interval of 95 %. */
export const Z95 = 1.959963984540054;

/** Wilson's score interval of 95 % for `successes` of `count`; null when nothing was counted. */
export function wilson(successes: number, count: number): Interval | null {
  if (count <= 0) return null;
  const share = successes / count;
  const z2 = Z95 * Z95;
  const centre = share + z2 / (2 * count);
  const half = Z95 * Math.sqrt((share * (1 - share)) / count + z2 / (4 * count * count));
  const scale = 1 + z2 / count;
  // At the ends the formula gives exactly 0 and 1, which rounding would miss by a hair.
  const low = successes === 0 ? 0 : Math.max(0, (centre - half) / scale);
  const high = successes === count ? 1 : Math.min(1, (centre + half) / scale);
  return { low, high };
}
