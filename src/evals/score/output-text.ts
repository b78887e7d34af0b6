import { deepEqual } from "../../engine/schemas/decide/deep-equal.ts";
import { parsedJson } from "../../formats/json/check-json.ts";

/** Deeper than anything a suite can expect, and shallow enough to be walked again at every level. */
export const OUTPUT_DEPTH_MAX = 100;

/** A text as it is, any other value as its JSON text. What has no JSON form, `undefined` above all, is the empty text. */
export function outputText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Checked without recursion: outputs are foreign data and may be nested to overflow the stack. */
export function isTooDeep(value: unknown, max = OUTPUT_DEPTH_MAX): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > max) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const member of Object.values(item)) if (typeof member === "object" && member !== null) next.push(member);
    }
    level = next;
  }
  return false;
}

/**
 * Equality of JSON values: neither the order of members nor white space counts, and 1 and 1.0 are one number. A text that contains
 * JSON is compared as the parsed value, because most programs can only print, and also as the text itself.
 */
export function jsonMatches(expected: unknown, output: unknown): boolean {
  return readings(output).some((reading) => deepEqual(expected, reading));
}

/** The values that an output is compared as: itself and, for a text with JSON, the parsed value. */
export function readings(output: unknown): unknown[] {
  const parsed = typeof output === "string" ? parsedJson(output) : undefined;
  return parsed === undefined || isTooDeep(parsed) ? [output] : [parsed, output];
}
