import type { Json } from "./exact-json.ts";
import { JsonObject } from "./exact-json.ts";

/**
 * Values that a format leaves to its authors, after reading: of members with the same name the last one is kept. Maps, since a plain
 * object puts names of digits first and has names of its own.
 */
export type FreeForm = null | boolean | string | bigint | number | readonly FreeForm[] | FreeMap;
export type FreeMap = ReadonlyMap<string, FreeForm>;

export function freeForm(value: Json): FreeForm {
  if (value instanceof JsonObject) return new Map(value.members.map(([name, member]) => [name, freeForm(member)]));
  if (Array.isArray(value)) return value.map(freeForm);
  return value as null | boolean | string | bigint | number;
}

/** Compact, with the names of members sorted by their UTF-8 bytes at every level. */
export function printFreeForm(value: FreeForm): string {
  if (value instanceof Map) {
    const names = [...value.keys()].sort(compareUtf8);
    return `{${names.map((name) => `${printString(name)}:${printFreeForm(value.get(name) as FreeForm)}`).join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(printFreeForm).join(",")}]`;
  return printScalar(value as null | boolean | string | bigint | number);
}

function printScalar(value: null | boolean | string | bigint | number): string {
  if (typeof value === "string") return printString(value);
  return typeof value === "number" ? printFloat(value) : String(value);
}

/** JSON.stringify escapes what must be and nothing else, as long as there is no half surrogate pair. */
export function printString(text: string): string {
  return JSON.stringify(text);
}

/** By code points, which is the order of the UTF-8 bytes; the order of UTF-16 units differs for pairs of surrogates. */
export function compareUtf8(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return codeOrder(left) - codeOrder(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others. */
function codeOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** As many digits may stand before the point; longer numbers have an exponent. */
const PLAIN_DIGITS = 16;

/** The shortest digits that read back as the same double, and always with a point or an exponent. */
export function printFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  const [mantissa = "", exponent = "0"] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  /** How many digits stand before the point. */
  const point = Number(exponent) + 1;
  if (digits.length <= point && point <= PLAIN_DIGITS) return `${sign}${digits.padEnd(point, "0")}.0`;
  if (point > 0 && point <= PLAIN_DIGITS) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  if (point > -5 && point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${sign}${digits[0]}${rest}e${point - 1}`;
}
