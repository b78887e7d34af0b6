import { compareSemver } from "./semver.ts";

/**
 * Whether a version is in a range as package managers write them: `>=1.0 <2.0.0`, `^1.2`, `~1.2.3`, `1.x`, `1 || 2`, `*`. Undefined
 * when the text is no such range. Of versions before a release only what a plain order says.
 */
export function inRange(version: string, range: string): boolean | undefined {
  const parts = range.split("||").map((part) => part.trim().replace(/([<>=^~])\s+/g, "$1"));
  const found = parts.map((part) => part.split(/\s+/).map((text) => within(version, text)));
  if (found.some((tests) => tests.includes(undefined))) return undefined;
  return found.some((tests) => tests.every((holds) => holds === true));
}

const COMPARATOR = /^(>=|<=|>|<|=|\^|~)?v?(\d{1,9}|[xX*])(?:\.(\d{1,9}|[xX*]))?(?:\.(\d{1,9}|[xX*]))?$/;

function within(version: string, text: string): boolean | undefined {
  const found = COMPARATOR.exec(text === "" ? "*" : text);
  if (found === null) return undefined;
  const [, operator = "", ...written] = found;
  const wild = written.findIndex((number) => number === undefined || /^[xX*]$/.test(number));
  const numbers = (wild < 0 ? written : written.slice(0, wild)).map(Number);
  const from = versionOf(numbers);
  // The first version after everything that a number with its rest left out stands for.
  const end = numbers.length === 0 ? undefined : versionOf(raised(numbers, numbers.length - 1));
  const isFrom = compareSemver(version, from) >= 0;
  const isBefore = end === undefined || compareSemver(version, end) < 0;
  switch (operator) {
    case ">=":
      return isFrom;
    case "<":
      return !isFrom;
    case ">":
      return numbers.length === 3 ? compareSemver(version, from) > 0 : !isBefore;
    case "<=":
      return numbers.length === 3 ? compareSemver(version, from) <= 0 : isBefore;
    case "^": {
      const first = numbers.findIndex((number) => number > 0);
      return isFrom && isBelow(version, numbers, first < 0 ? numbers.length - 1 : first);
    }
    case "~":
      return isFrom && isBelow(version, numbers, Math.min(1, numbers.length - 1));
    default:
      return numbers.length === 3 ? compareSemver(version, from) === 0 : isFrom && isBefore;
  }
}

function isBelow(version: string, numbers: readonly number[], place: number): boolean {
  return place < 0 || compareSemver(version, versionOf(raised(numbers, place))) < 0;
}

function raised(numbers: readonly number[], place: number): number[] {
  return [...numbers.slice(0, place), (numbers[place] ?? 0) + 1];
}

function versionOf(numbers: readonly number[]): string {
  return [0, 1, 2].map((i) => numbers[i] ?? 0).join(".");
}
