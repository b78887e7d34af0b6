import { type Json, JsonObject } from "./exact-json.ts";

/**
 * Values of any form after reading: of members with the same name the last one is kept. Objects are maps, since a plain object puts names
 * of digits first and inherits names.
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

/** JSON.stringify escapes only the required characters, unless the text has a lone surrogate. */
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

/** Surrogates encode code points above all others. */
function codeOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The most digits before the point; longer numbers get an exponent. */
const PLAIN_DIGITS = 16;

/** The shortest digits that read back as the same double, always with a point or an exponent. */
export function printFloat(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  const [mantissa = "", exponent = "0"] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  /** The number of digits before the point. */
  const point = Number(exponent) + 1;
  if (digits.length <= point && point <= PLAIN_DIGITS) return `${sign}${digits.padEnd(point, "0")}.0`;
  if (point > 0 && point <= PLAIN_DIGITS) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
  if (point > -5 && point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${sign}${digits[0]}${rest}e${point - 1}`;
}

/** A result as it is printed: records in the order in which they were written, with free-form values among them. */
export type Plain =
  | null
  | boolean
  | string
  | bigint
  | number
  | readonly Plain[]
  | FreeMap
  | { readonly [name: string]: Plain };

/** Compact JSON with exact integers: a `bigint` prints all its digits; `JSON.stringify` refuses it. */
export function printPlain(value: Plain): string {
  if (value instanceof Map) return printFreeForm(value);
  if (Array.isArray(value)) return `[${value.map(printPlain).join(",")}]`;
  if (typeof value === "bigint") return String(value);
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value as { readonly [name: string]: Plain });
    return `{${members.map(([name, member]) => `${printString(name)}:${printPlain(member)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** The value with members that are sorted on printing, and numbers that are floats (`0.0`). */
export function asFreeForm(value: Plain): FreeForm {
  if (value instanceof Map) return value;
  if (Array.isArray(value)) return value.map(asFreeForm);
  if (typeof value !== "object" || value === null) return value as FreeForm;
  return new Map(Object.entries(value).map(([name, member]) => [name, asFreeForm(member as Plain)]));
}

const INDENT = "  ";

/**
 * Compact JSON in the layout of reports: two spaces per level, one element per line, empty containers closed at once. Numbers stay as they
 * are written.
 */
export function indentJson(compact: string, outerLevel = 0): string {
  let level = outerLevel;
  return compact.replace(TOKENS, (token) => {
    switch (token) {
      case "{":
      case "[":
        return `${token}\n${INDENT.repeat(++level)}`;
      case "}":
      case "]":
        return `\n${INDENT.repeat(--level)}${token}`;
      case ",":
        return `,\n${INDENT.repeat(level)}`;
      case ":":
        return ": ";
      default:
        return token;
    }
  });
}

/** A string and an empty container are one match, so that nothing inside counts as structure. */
const TOKENS = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g;

/** A member of a report: compact JSON, or the elements of a list, which may be too many for one text. */
export type ReportMember = readonly [name: string, value: string | Iterable<string>];

/** An object in the same layout, piece by piece and without a final LF. */
export function* indentedReport(members: readonly ReportMember[]): Generator<string> {
  for (const [i, [name, value]] of members.entries()) {
    yield `${i === 0 ? "{" : ","}\n${INDENT}${JSON.stringify(name)}: `;
    if (typeof value === "string") yield indentJson(value, 1);
    else yield* indentedList(value);
  }
  yield "\n}";
}

function* indentedList(elements: Iterable<string>): Generator<string> {
  let separator = "[";
  for (const element of elements) {
    yield `${separator}\n${INDENT.repeat(2)}${indentJson(element, 2)}`;
    separator = ",";
  }
  yield separator === "[" ? "[]" : `\n${INDENT}]`;
}
