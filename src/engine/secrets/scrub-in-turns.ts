import { type CleanText, cleanedInSteps } from "../../formats/secrets/clean-value.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { inTurns, ownTurn, pauses } from "../worker/pauses.ts";

/** Texts of at least so many characters are long: scrubbing them may take tens of milliseconds. */
export const LONG_TEXT = 16 * 1024;
/** How long texts are scrubbed before other work gets a turn. */
const AT_ONCE_MS = 5;

export type Cleaner = Pick<Scrubber, "scrubText" | "scrubLong">;

/** `scrubValue` without blocking other requests: long texts are scrubbed in a thread, many short ones with pauses. */
export async function scrubInTurns<T>(scrubber: Cleaner, value: T): Promise<T> {
  return (await cleanInTurns(scrubber, (text) => cleanedInSteps(value, text))) as T;
}

/**
 * The result of `clean` without blocking other requests. `clean` gets a scrubber of texts, and is called again until all texts that it needs were
 * scrubbed in between; until then that scrubber returns texts unchanged.
 */
export async function cleanInTurns<T>(
  scrubber: Cleaner,
  clean: (scrubText: CleanText) => Generator<void, T>,
): Promise<T> {
  const pause = pauses();
  const known = new Map<string, string>();
  for (;;) {
    const missing = new Set<string>();
    const lookUp = (text: string) => {
      const found = known.get(text);
      if (found === undefined) missing.add(text);
      return found ?? text;
    };
    const result = await inTurns(clean(lookUp), pause);
    if (missing.size === 0) return result;
    for (const [text, scrubbed] of await scrubbedTexts(scrubber, missing)) known.set(text, scrubbed);
  }
}

/** The scrubbed texts, by text. */
export async function scrubbedTexts(scrubber: Cleaner, texts: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const clean = new Map<string, string>();
  let untilMs = performance.now() + AT_ONCE_MS;
  for (const text of texts) {
    clean.set(text, isLong(text) ? await scrubLong(scrubber, text) : scrubber.scrubText(text));
    if (performance.now() < untilMs) continue;
    await ownTurn();
    untilMs = performance.now() + AT_ONCE_MS;
  }
  return clean;
}

/** Whether a text is scrubbed in a thread. */
export function isLong(text: string): boolean {
  return text.length >= LONG_TEXT;
}

async function scrubLong({ scrubText, scrubLong }: Cleaner, text: string) {
  if (scrubLong === undefined) return scrubText(text);
  // A text is scrubbed here where the thread died.
  return scrubLong(text).catch(() => scrubText(text));
}
