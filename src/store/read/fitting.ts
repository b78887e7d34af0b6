/** Bytes that are read at once of rows that may be large; one row is, however large. */
const BYTES_AT_ONCE = 2_000_000;

/** The last of the rows, in the order in which they are read, that fits beside those before it; undefined where there are none. */
export function lastFitting<T extends { readonly bytes: number | null }>(sizes: readonly T[]): T | undefined {
  let left = BYTES_AT_ONCE;
  let last: T | undefined;
  for (const one of sizes) {
    left -= one.bytes ?? 0;
    if (last !== undefined && left < 0) return last;
    last = one;
  }
  return last;
}
