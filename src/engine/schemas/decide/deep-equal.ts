import type { WorkBudget } from "./work-budget.ts";

/** Texts of the same length are compared fast. */
const CHARACTERS_PER_UNIT = 1024;

/** Equality of JSON values; the order of members does not matter. `charge` is called with the work before it is done: one unit for each value and member. */
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

/** A text that is the same for equal JSON values, in any order of their members. Costs one unit for each value in it. */
export function jsonKey(value: unknown, budget: WorkBudget): string {
  if (typeof value === "string") budget.charge(1 + (value.length >> CHARACTERS));
  else budget.charge(1);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map((item) => jsonKey(item, budget)).join(",")}]`;
  const members = value as Readonly<Record<string, unknown>>;
  const named = (name: string) => `${JSON.stringify(name)}:${jsonKey(members[name], budget)}`;
  return `{${Object.keys(members).sort().map(named).join(",")}}`;
}

/** Shift for the cost of texts: 64 characters are one unit. */
export const CHARACTERS = 6;
