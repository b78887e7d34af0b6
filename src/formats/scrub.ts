import { MASK } from "../protocol/events.ts";
import { SECRET_SHAPES } from "./secret-shapes.ts";

/** Takes secrets out of what people and other systems wrote. Cleaning twice changes nothing more. */
export interface Scrubber {
  scrubText(text: string): string;
  /** Every string in it; the names of members stay. What holds no secret is returned as it is, not copied. */
  scrubValue<T>(value: T): T;
}

export interface ScrubberSettings {
  /** Values that are secret whatever they look like. */
  readonly known?: readonly string[];
}

/** A shorter one would take the words out of innocent sentences. */
const SHORTEST_KNOWN = 8;

/** One look at a text tells whether any shape can be in it at all; most have none. */
const ANY_TRIGGER = new RegExp(SECRET_SHAPES.map(({ trigger }) => trigger.source).join("|"), "i");

const RULES = SECRET_SHAPES.map(({ trigger, pattern }) => ({
  trigger,
  pattern,
  replacement: pattern.source.includes("(?<kept>") ? `$<kept>${MASK}` : MASK,
}));

export function scrubber({ known = [] }: ScrubberSettings = {}): Scrubber {
  // Longest first: one that begins with another must not be left with its tail showing.
  const values = known.filter(({ length }) => length >= SHORTEST_KNOWN).sort((a, b) => b.length - a.length);

  function scrubText(given: string): string {
    let clean = given;
    for (const value of values) if (clean.includes(value)) clean = clean.replaceAll(value, MASK);
    if (!ANY_TRIGGER.test(clean)) return clean;
    for (const { trigger, pattern, replacement } of RULES) {
      if (trigger.test(clean)) clean = clean.replace(pattern, replacement);
    }
    return clean;
  }

  function scrubValue<T>(given: T): T {
    return cleaned(given, scrubText) as T;
  }

  return { scrubText, scrubValue };
}

export const { scrubText, scrubValue } = scrubber();

function cleaned(value: unknown, text: (text: string) => string): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  const before: readonly unknown[] = Object.values(value);
  const after = before.map((item) => cleaned(item, text));
  if (after.every((item, i) => Object.is(item, before[i]))) return value;
  return Array.isArray(value) ? after : Object.fromEntries(Object.keys(value).map((key, i) => [key, after[i]]));
}
