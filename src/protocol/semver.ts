/** Semantic Versioning 2.0.0: three numbers, and after them what came before the release and what it was built from. */
export const SEMVER_PATTERN =
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(\\.(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\\+[0-9a-zA-Z-]+(\\.[0-9a-zA-Z-]+)*)?$";
export const SEMVER_LENGTH_MAX = 128;

/**
 * By precedence, the lower one first. What a version was built from has no precedence; two that differ in nothing else are in the
 * order of their texts, so that a list has one order.
 */
export function compareSemver(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  for (let i = 0; i < 3; i++) {
    const order = compareNumbers(left.numbers[i] ?? "0", right.numbers[i] ?? "0");
    if (order !== 0) return order;
  }
  return comparePreRelease(left.preRelease, right.preRelease) || byText(a, b);
}

interface Parts {
  readonly numbers: readonly string[];
  readonly preRelease: readonly string[];
}

function parts(version: string): Parts {
  const [release = ""] = version.split("+");
  const dash = release.indexOf("-");
  const numbers = (dash < 0 ? release : release.slice(0, dash)).split(".");
  return { numbers, preRelease: dash < 0 ? [] : release.slice(dash + 1).split(".") };
}

function comparePreRelease(a: readonly string[], b: readonly string[]): number {
  // A release comes after everything that led up to it.
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const order = compareIdentifiers(a[i] ?? "", b[i] ?? "");
    if (order !== 0) return order;
  }
  return Math.sign(a.length - b.length);
}

function compareIdentifiers(a: string, b: string): number {
  const [left, right] = [NUMERIC.test(a), NUMERIC.test(b)];
  if (left && right) return compareNumbers(a, b);
  return left === right ? byText(a, b) : left ? -1 : 1;
}

const NUMERIC = /^\d+$/;

/** However long they are; none of them has leading zeros. */
function compareNumbers(a: string, b: string): number {
  return Math.sign(a.length - b.length) || byText(a, b);
}

function byText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
