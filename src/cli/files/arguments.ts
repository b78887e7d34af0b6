import { readFileSync } from "node:fs";
import { jsonOrText } from "../../formats/json/check-json.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { beforeNow } from "../output/amount.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value of `JSON` or `@FILE`; `@-` is standard input. */
export function jsonValue(argument: string, flag: string): unknown {
  const text = argument.startsWith("@") ? readText(argument.slice(1), flag) : argument;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unusableInput(`${flag} is not JSON: ${(error as Error).message}`);
  }
}

/** The same for a flag that takes an object only. */
export function jsonObject(argument: string, flag: string): JsonObject {
  const value = jsonValue(argument, flag);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw unusableInput(`${flag} must be a JSON object`);
}

/** `name=Ada` and `n=3`: the value is JSON where it parses as JSON, else the text itself. */
export function assignments(items: readonly string[], flag: string): JsonObject {
  const entries = items.map((item) => {
    const equals = item.indexOf("=");
    if (equals < 1) throw unusableInput(`${flag} ${item} must look like NAME=VALUE`);
    return [item.slice(0, equals), jsonOrText(item.slice(equals + 1))];
  });
  return Object.fromEntries(entries);
}

/** The content of a file, or of standard input for `-`. */
export function readText(path: string, name: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw unusableInput(`${name} cannot be read: ${(error as Error).message}`);
  }
}

/** The text of `TEXT`, `@FILE` or `-`, without the newline that editors and `echo` end a file with. */
export function textArgument(argument: string, flag: string): string {
  if (argument !== "-" && !argument.startsWith("@")) return argument;
  const text = argument === "-" ? readText("-", "standard input") : readText(argument.slice(1), flag);
  return text.replace(/\r?\n$/, "");
}

/** The names of a flag that may be repeated and may hold several names, separated by commas. */
export function split(items: readonly string[]): string[] {
  return items.flatMap((item) => item.split(",")).filter((item) => item !== "");
}

const NONE = "none";

/** The names of a flag that replaces the present ones, where `none` removes all; undefined when it was not given. */
export function replacement(flag: string, items: readonly string[]): string[] | undefined {
  if (items.length === 0) return undefined;
  const names = split(items);
  if (names.length === 1 && names[0] === NONE) return [];
  if (names.length > 0 && !names.includes(NONE)) return names;
  throw unusableInput(`${flag} takes names, or ${NONE} alone`);
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The instant of a day, an instant or a time ago such as `7d`. A text that looks like an instant is checked by the server. */
export function instantArgument(flag: string, text: string | undefined, nowMs: number): string | undefined {
  if (text === undefined) return undefined;
  if (DAY.test(text)) return `${text}T00:00:00Z`;
  const instant = text.includes("T") ? text : beforeNow(text, nowMs);
  if (instant !== undefined) return instant;
  throw unusableInput(`${flag} ${text} must look like 7d, 2027-01-31 or 2027-01-31T12:00:00Z`);
}

/** The amount of a flag that limits costs. */
export function dollars(flag: string, text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw unusableInput(`${flag} must be an amount like 2.50, and not ${text}`);
}

/** The number of a flag that says how sure an agent is. */
export function confidence(flag: string, text: string): number {
  const value = /^(0|1|[01]?\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw unusableInput(`${flag} ${text} must be a number from 0 to 1`);
}
