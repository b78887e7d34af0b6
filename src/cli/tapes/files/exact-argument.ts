import { readJson, Unreadable } from "../../../formats/json/exact-json.ts";
import { type FreeForm, type FreeMap, freeForm } from "../../../formats/json/print-json.ts";
import { AppError } from "../../../protocol/errors.ts";
import { readText } from "../../files/arguments.ts";

/** What `JSON` or `@FILE` stands for, with integers as they are written; `@-` is standard input. */
export function exactJson(argument: string, flag: string): FreeForm {
  const isFile = argument.startsWith("@");
  const value = parsed(isFile ? readText(argument.slice(1), flag) : argument);
  if (!(value instanceof Unreadable)) return value;
  const hint = isFile || /^\s*["{[]/.test(argument) ? "" : `; a text needs quotes of its own: ${flag} '"…"'`;
  throw refusal(`${flag} is not JSON: ${value.message}${hint}`);
}

/** What `TEXT` or `@FILE` stands for; `-` is standard input. The newline that editors put at the end is no part of it. */
export function textArgument(argument: string, flag: string): string {
  if (argument !== "-" && !argument.startsWith("@")) return argument;
  return readText(argument === "-" ? "-" : argument.slice(1), flag).replace(/\r?\n$/, "");
}

/** `doc_url=https://…` and `n=3`: JSON where it reads as JSON, else the text itself. What begins like JSON must be JSON. */
export function exactAssignments(items: readonly string[], flag: string): FreeMap {
  const values = new Map<string, FreeForm>();
  for (const item of items) {
    const equals = item.indexOf("=");
    if (equals < 1) throw refusal(`${flag} ${item} must look like KEY=VALUE`);
    const key = item.slice(0, equals);
    if (values.has(key)) throw refusal(`${flag} ${key}=… is there twice`);
    values.set(key, parsedOrText(item.slice(equals + 1), `${flag} ${key}`));
  }
  return values;
}

function parsedOrText(text: string, flag: string): FreeForm {
  const value = parsed(text);
  if (!(value instanceof Unreadable)) return value;
  if (/^\s*["{[]/.test(text)) throw refusal(`${flag} is not JSON: ${value.message}`);
  return text;
}

function parsed(text: string): FreeForm | Unreadable {
  try {
    return freeForm(readJson(text));
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}

function refusal(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
