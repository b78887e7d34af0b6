import { RE2JS } from "re2js";
import { AppError } from "../../protocol/errors.ts";

const compiled = new Map<string, RE2JS>();
const CACHE_MAX = 1000;

/**
 * Patterns written by workflow authors run on RE2: linear time whatever the input, so nobody can stop a host with
 * one. Throws `validation_error` for what RE2 does not take (back references, look-around).
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
  return (text) => found.matcher(text).find();
}
