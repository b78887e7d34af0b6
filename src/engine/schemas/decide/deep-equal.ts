/** Comparing two texts of one length is fast. */
const CHARACTERS_PER_UNIT = 1024;

/**
 * Equality of JSON values. Key order does not matter; 1 and 1.0 are one number. `charge` is given the work before it is done: one unit for
 * each value and member.
 */
export function deepEqual(a: unknown, b: unknown, charge?: (units: number) => void): boolean {
  charge?.(1 + (typeof a === "string" && typeof b === "string" ? a.length / CHARACTERS_PER_UNIT : 0));
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && a.length !== (b as readonly unknown[]).length) return false;
  const keys = Object.keys(a);
  const { length } = Object.keys(b);
  charge?.(keys.length + length);
  if (keys.length !== length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      deepEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key], charge),
  );
}
