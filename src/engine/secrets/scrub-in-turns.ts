import { cleanedInSteps, type Scrubber } from "../../formats/secrets/scrub.ts";
import { inTurns, ownTurn, pauses } from "../worker/pauses.ts";

/** Texts of so many characters take some milliseconds to scrub. Values with fewer in all are scrubbed at once. */
export const LONG_TEXT = 64 * 1024;
/** How long texts are scrubbed before other work has its turn. */
const AT_ONCE_MS = 5;

type Cleaner = Pick<Scrubber, "scrubText" | "scrubLong">;

/** `scrubValue` that does not hold up other requests: long texts are scrubbed in a thread, many short ones and many parts with pauses. */
export async function scrubInTurns<T>(scrubber: Cleaner, value: T): Promise<T> {
  const pause = pauses();
  const texts = new Set<string>();
  const collect = (text: string) => {
    texts.add(text);
    return text;
  };
  await inTurns(cleanedInSteps(value, collect), pause);
  let characters = 0;
  for (const text of texts) characters += text.length;
  const clean = characters < LONG_TEXT ? undefined : await scrubbedTexts(scrubber, texts);
  const cleanText = (text: string) => clean?.get(text) ?? scrubber.scrubText(text);
  return (await inTurns(cleanedInSteps(value, cleanText), pause)) as T;
}

/** Each text with what it is without secrets. */
export async function scrubbedTexts(
  scrubber: Pick<Scrubber, "scrubText" | "scrubLong">,
  texts: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
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

/** Whether a text takes so long to scrub that a thread does it. */
export function isLong(text: string): boolean {
  return text.length >= LONG_TEXT;
}

async function scrubLong({ scrubText, scrubLong }: Pick<Scrubber, "scrubText" | "scrubLong">, text: string) {
  if (scrubLong === undefined) return scrubText(text);
  // A text is never kept as it came because a thread died.
  return scrubLong(text).catch(() => scrubText(text));
}
