import { deepEqual } from "../../engine/schemas/decide/deep-equal.ts";
import { isTooDeep } from "./output-text.ts";

/**
 * Equality of JSON values: neither the order of members nor white space counts, and 1 and 1.0 are one number. A text that is
 * JSON counts as what it says, because most programs can only print; as the text it is it counts too.
 */
export function jsonMatches(expected: unknown, output: unknown): boolean {
  return readings(output).some((reading) => deepEqual(expected, reading));
}

/** What an output can be compared as: as it is and, when it is a text, what it says. */
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
