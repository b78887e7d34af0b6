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
