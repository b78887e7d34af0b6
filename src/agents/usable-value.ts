/** Values are walked level by level later; this depth is more than any real value has. */
const DEPTH_MAX = 64;

/** Values are walked one by one on the event loop: as many as a request may have, where no other number is set. */
const VALUES_MAX = 100_000;

export type Usable = { readonly value: unknown } | { readonly problem: string };

/**
 * A value of an agent or a tool in the form that can be stored, hashed and shown; or why it has none. The problem continues the
 * value's name.
 */
export function usable(given: unknown): Usable {
  const problem = sizeProblem(given);
  return problem === undefined ? { value: sayable(given) } : { problem };
}

/**
 * Why a value is too large or too deep to be gone through; undefined where it is not. Level by level, because what is to be found out is
 * whether it could be gone through any other way.
 */
export function sizeProblem(given: unknown, valuesMax = VALUES_MAX): string | undefined {
  let level: object[] = isNested(given) ? [given] : [];
  let count = 1;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= DEPTH_MAX) return `is nested more than ${DEPTH_MAX} levels deep`;
    const next: object[] = [];
    for (const item of level) {
      const inside: unknown[] = Array.isArray(item) ? item : Object.values(item);
      count += inside.length;
      if (count > valuesMax) return `has more than ${valuesMax} values`;
      for (const one of inside) if (isNested(one)) next.push(one);
    }
    level = next;
  }
  return undefined;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Halves of characters and numbers beyond all bounds get through a parser, and have no form that a hash could be taken of. */
function sayable(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (!isNested(value)) return value;
  if (Array.isArray(value)) return value.map(sayable);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name.toWellFormed(), sayable(item)]));
}
