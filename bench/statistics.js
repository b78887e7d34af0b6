// @ts-check

/**
 * @param {readonly number[]} values
 * @param {number} q from 0 to 1
 */
export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const at = q * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** @param {readonly number[]} values */
export function median(values) {
  return quantile(values, 0.5);
}

/**
 * Round by round, because the two were measured a moment apart and the machine may be another one a minute later.
 * @param {readonly number[]} values
 * @param {readonly number[]} baseline
 */
export function ratios(values, baseline) {
  return values.map((value, round) => value / (baseline[round] ?? Number.NaN));
}

/**
 * The middle and the range, as `1,234 [1,100–1,300]`.
 * @param {readonly number[]} values
 * @param {number} digits
 */
export function spread(values, digits = 0) {
  if (values.length === 0) return "–";
  const text = (/** @type {number} */ n) =>
    n.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  if (values.length === 1) return text(values[0] ?? Number.NaN);
  return `${text(median(values))} [${text(Math.min(...values))}–${text(Math.max(...values))}]`;
}
