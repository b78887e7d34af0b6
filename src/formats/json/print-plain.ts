import { type FreeForm, type FreeMap, printFreeForm, printString } from "./print-json.ts";

/** A result as it is handed on: records in the order in which they were written, free-form values among them. */
export type Plain =
  | null
  | boolean
  | string
  | bigint
  | number
  | readonly Plain[]
  | FreeMap
  | { readonly [name: string]: Plain };

/** Compact JSON with exact integers: what is a `bigint` prints all its digits, which `JSON.stringify` refuses to do. */
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

/** The same value as one whose members are sorted when it is printed, and whose numbers are floats (`0.0`). */
export function asFreeForm(value: Plain): FreeForm {
  if (value instanceof Map) return value;
  if (Array.isArray(value)) return value.map(asFreeForm);
  if (typeof value !== "object" || value === null) return value as FreeForm;
  return new Map(Object.entries(value).map(([name, member]) => [name, asFreeForm(member as Plain)]));
}
