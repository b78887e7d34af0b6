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
