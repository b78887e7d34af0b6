import { readFileSync } from "node:fs";
import { AppError } from "../../protocol/errors.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** What `JSON` or `@FILE` stands for; `@-` is standard input. */
export function jsonValue(argument: string, flag: string): unknown {
  const text = argument.startsWith("@") ? readText(argument.slice(1), flag) : argument;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("unusable_input", { problem: `${flag} is not JSON: ${(error as Error).message}` });
  }
}

/** The same, where only an object will do. */
export function jsonObject(argument: string, flag: string): JsonObject {
  const value = jsonValue(argument, flag);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new AppError("unusable_input", { problem: `${flag} must be a JSON object` });
}

/** `name=Ada` and `n=3`: the value is JSON where it parses as JSON, else the text itself. */
export function assignments(items: readonly string[], flag: string): JsonObject {
  return Object.fromEntries(
    items.map((item) => {
      const equals = item.indexOf("=");
      if (equals < 1) {
        throw new AppError("unusable_input", { problem: `${flag} ${item} must look like NAME=VALUE` });
      }
      return [item.slice(0, equals), parsedOrText(item.slice(equals + 1))];
    }),
  );
}

/** The content of a file, or of standard input for `-`. */
export function readText(path: string, what: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    throw new AppError("unusable_input", { problem: `${what} cannot be read: ${(error as Error).message}` });
  }
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
