import { validationError } from "../../protocol/errors.ts";
import { EVENTS } from "../../protocol/events.ts";

const TYPES: readonly string[] = Object.keys(EVENTS);

/** The event types that match these names, `*`, and families such as `approval.*`. */
export function typesMatching(patterns: readonly string[]): ReadonlySet<string> {
  return new Set(patterns.flatMap(typesOf));
}

function typesOf(pattern: string): readonly string[] {
  if (pattern === "*") return TYPES;
  if (!pattern.endsWith(".*")) return TYPES.filter((type) => type === pattern);
  return TYPES.filter((type) => type.startsWith(pattern.slice(0, -1)));
}

/** Throws `validation_error` for a pattern that matches no type, with similar ones. */
export function requirePatterns(patterns: readonly string[]): void {
  const useless = patterns.find((pattern) => typesOf(pattern).length === 0);
  if (useless === undefined) return;
  const family = `${useless.split(".")[0]}.`;
  const near = TYPES.filter((type) => type.startsWith(family));
  const known = near.length > 0 ? near : families();
  throw validationError(`events: nothing is called "${useless}"; there are ${known.join(", ")}, and * for all`, {
    known,
  });
}

function families(): string[] {
  return [...new Set(TYPES.map((type) => `${type.split(".")[0]}.*`))].sort();
}
