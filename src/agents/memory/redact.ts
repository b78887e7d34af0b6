import type { Scrubber } from "../../formats/secrets/scrub.ts";

/** A secret that this process was given, by the name it is known by. */
export interface NamedSecret {
  readonly id: string;
  readonly value: string;
}

/** A shorter one would take the words out of innocent sentences. */
const SHORTEST = 4;

/**
 * Removes secrets from text to be remembered: named secrets leave `[REDACTED:<name>]` behind, which says which one was there;
 * other text that looks like a secret is masked.
 */
export function redactor(
  secrets: readonly NamedSecret[],
  scrubber: Pick<Scrubber, "scrubText">,
): (text: string) => string {
  // The longest first, so that no tail of it is left showing.
  const known = secrets.filter(({ value }) => value.length >= SHORTEST).sort((a, b) => b.value.length - a.value.length);
  return (text) => {
    const named = known.reduce((left, { id, value }) => left.split(value).join(`[REDACTED:${id}]`), text);
    return scrubber.scrubText(named);
  };
}
