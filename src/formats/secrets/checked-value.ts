import { MASK } from "../../protocol/events.ts";
import { isValue, schemeLength } from "./secret-names.ts";
import type { TextRange } from "./text-range.ts";

/** A reference with a value for where there is nothing at it: `${NAME:value}`, `${NAME:-value}`. */
const REFERENCE_WITH_DEFAULT = /\$\{[A-Za-z_][\w.]{0,80}(?::(?![?+])[-=]?|[-=])(?=[^}\n])/y;

/** The range without the words that say how the value is used, and without the reference that it is the default of; undefined where there is no value. */
export function checked(text: string, [from, to]: TextRange, name: string): TextRange | undefined {
  REFERENCE_WITH_DEFAULT.lastIndex = from;
  if (REFERENCE_WITH_DEFAULT.test(text) && REFERENCE_WITH_DEFAULT.lastIndex < to) {
    return checked(text, defaultIn(text, REFERENCE_WITH_DEFAULT.lastIndex, to), name);
  }
  const value = text.slice(from, to);
  if (value === MASK || !isValue(value, name)) return undefined;
  const scheme = value.includes(" ") ? schemeLength(value) : 0;
  return scheme === 0 || isValue(value.slice(scheme), name) ? [from + scheme, to] : undefined;
}

/** A default that is longer is read up to where the value ends. */
const DEFAULT_MAX = 200;

/** Up to the bracket that closes the reference; a value without quotes was read up to a blank only. */
function defaultIn(text: string, from: number, to: number): TextRange {
  const [line = ""] = text.slice(from, Math.max(to, from + DEFAULT_MAX)).split(/[\r\n"]/, 1);
  const close = line.indexOf("}");
  return close === -1 ? [from, to] : [from, from + close];
}
