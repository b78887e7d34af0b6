import { RE2JS } from "re2js";
import { AppError } from "../../protocol/errors.ts";
import { TooCostly } from "./too-costly.ts";

const compiled = new Map<string, RE2JS>();
const CACHE_MAX = 1000;

/** States of the pattern times characters of the text: what a search may take at most, some tenths of a second. */
const WORK_MAX = 10_000_000;

/**
 * Patterns written by workflow authors run on RE2: linear time whatever the input, so nobody can stop a host with
 * one. Throws `validation_error` for what RE2 does not take (back references, look-around). A search throws `TooCostly`
 * where a pattern of thousands of states meets a text of hundreds of thousands of characters.
 */
export function compilePattern(source: string): (text: string) => boolean {
  let pattern = compiled.get(source);
  if (!pattern) {
    try {
      pattern = RE2JS.compile(source);
    } catch {
      throw new AppError("validation_error", {
        problem: `the pattern ${JSON.stringify(source.slice(0, 100))} is not one RE2 accepts`,
      });
    }
    if (compiled.size >= CACHE_MAX) compiled.clear();
    compiled.set(source, pattern);
  }
  const found = pattern;
  return (text) => {
    if (found.programSize() * text.length > WORK_MAX) throw new TooCostly("the pattern is too large for this text");
    return found.matcher(text).find();
  };
}
