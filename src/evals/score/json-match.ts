import { deepEqual } from "../../engine/schemas/decide/deep-equal.ts";
import { isTooDeep } from "./output-text.ts";

/**
 * Equality of JSON values: neither the order of members nor white space counts, and 1 and 1.0 are one number. A text that contains
 * JSON is compared as the parsed value, because most programs can only print, and also as the text itself.
 */
export function jsonMatches(expected: unknown, output: unknown): boolean {
  return readings(output).some((reading) => deepEqual(expected, reading));
}

/** The values that an output is compared as: itself and, for a text with JSON, the parsed value. */
export function readings(output: unknown): unknown[] {
  const parsed = typeof output === "string" ? parsedText(output) : undefined;
  return parsed === undefined || isTooDeep(parsed.value) ? [output] : [parsed.value, output];
}

function parsedText(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
