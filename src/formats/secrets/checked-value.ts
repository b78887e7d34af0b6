import { MASK } from "../../protocol/events.ts";
import { isValue, schemeLength } from "./secret-names.ts";
import type { TextRange } from "./text-range.ts";

/** The range without the words that say how the value is used; undefined where there is no value. */
export function checked(text: string, [from, to]: TextRange, name: string): TextRange | undefined {
  const value = text.slice(from, to);
  if (value === MASK || !isValue(value, name)) return undefined;
  const scheme = value.includes(" ") ? schemeLength(value) : 0;
  return scheme === 0 || isValue(value.slice(scheme), name) ? [from + scheme, to] : undefined;
}
