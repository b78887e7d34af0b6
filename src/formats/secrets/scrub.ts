import { MASK } from "../../protocol/words.ts";
import { cleaned } from "./clean-value.ts";
import { KnownValues } from "./known-values.ts";
import { namedSecretsIn } from "./named-secrets.ts";
import { type FindSecrets, TRIGGER } from "./rule-set.ts";
import { SECRET_SHAPES } from "./secret-shapes.ts";
import { masked, requireFew, type TextRange } from "./text-range.ts";
import { unescaped } from "./unescaped.ts";
import { wrappedSecretsIn } from "./wrapped-secrets.ts";

/** Removes secrets from what people and other systems wrote. A second pass changes nothing more. Never throws. */
export interface Scrubber {
  scrubText(text: string): string;
  /** Cleans every string of the value, names of members included. A value without a secret is returned as it is, not copied. */
  scrubValue<T>(value: T): T;
  /** `scrubText` in a separate thread, for texts that would hold up other requests; absent without such a thread. */
  scrubLong?(text: string): Promise<string>;
  /**
   * Whether the text holds a secret that is one by its shape, whatever its name: for documents that are refused as a whole, and for values
   * that are compared between evaluations. Code with `password = "x"` is a valid task.
   */
  holdsKey(text: string): boolean;
}

export interface ScrubberSettings {
  /** Values that are secret whatever they look like. */
  readonly known?: KnownValues | readonly string[];
  /** Finds more than the shapes here do, see `rule-set.ts`. */
  readonly more?: FindSecrets;
}

const ANY_TRIGGER = new RegExp([...SECRET_SHAPES.map(({ trigger }) => trigger.source), TRIGGER.source].join("|"), "i");

/** Characters and words that precede secrets of any length. Separate patterns: one combined pattern is much slower. */
const PREFIXES = [
  /eyJ/,
  /cred_/,
  /bearer/i,
  /authorization/i,
  /:\/\//,
  /-----BEGIN /i,
  /secret_?access/i,
  /private key/i,
];

/** From this length on, a search for each trigger is faster than one search for any of them. */
const LONG_WORD = 500;

/** The length of the shortest secret with a shape of its own; few ordinary words are as long. */
const LONG = 15;

const IN_WORDS = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+/=:@%-") {
  IN_WORDS[character.charCodeAt(0)] = 1;
}

/** Whether any word that is long enough to be a secret is `wanted`. Reads few characters of a text without long words. */
export function someLongWord(text: string, wanted: (word: string) => boolean): boolean {
  // Every long word covers one of these places.
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isInWord(text, at)) continue;
    let start = at;
    while (start > 0 && isInWord(text, start - 1)) start--;
    let end = at + 1;
    while (end < text.length && isInWord(text, end)) end++;
    if (end - start >= LONG && wanted(text.slice(start, end))) return true;
    // The next place after the word; places within it belong to the same word.
    at += Math.floor((end - at) / LONG) * LONG;
  }
  return false;
}

function isInWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && IN_WORDS[code] === 1;
}

/** A quick check whether a text can hold a secret at all; most cannot. */
function isSuspicious(text: string): boolean {
  return PREFIXES.some((prefix) => prefix.test(text)) || someLongWord(text, hasTrigger);
}

function hasTrigger(word: string): boolean {
  if (word.length < LONG_WORD) return ANY_TRIGGER.test(word);
  return TRIGGER.test(word) || SECRET_SHAPES.some(({ trigger }) => trigger.test(word));
}

const RULES = SECRET_SHAPES.map(({ trigger, pattern }) => ({
  trigger,
  pattern,
  replacement: pattern.source.includes("(?<kept>") ? `$<kept>${MASK}` : MASK,
}));

/** A text that still changes after so many rounds was made to take long; it is masked as a whole. */
const ROUNDS_MAX = 8;
const LONG_TEXT = 100_000;
const ROUNDS_MAX_LONG = 4;
/** A text may be wrapped in base64 twice. */
const WRAPS_MAX = 2;

export function scrubber({ known = [], more = () => [] }: ScrubberSettings = {}): Scrubber {
  const values = known instanceof KnownValues ? known : new KnownValues(known);

  /** Repeated until nothing changes: after a secret is removed, the text behind it can become one. */
  function untilClean(given: string, names: boolean): string {
    const rounds = given.length > LONG_TEXT ? ROUNDS_MAX_LONG : ROUNDS_MAX;
    try {
      for (let text = given, round = 0; round < rounds; round++) {
        const clean = once(text, names);
        if (clean === text) return clean;
        text = clean;
      }
    } catch {
      // A rule that fails on a text cannot confirm that the text is clean.
    }
    return MASK;
  }

  function once(text: string, names: boolean): string {
    const clean = asWritten(text, names);
    return asRead(clean, names);
  }

  function asWritten(given: string, names: boolean): string {
    const plain = plainIn(given, names);
    if (plain.length === 0 && !isSuspicious(given)) return given;
    const known = masked(given, [...plain, ...more(given)], MASK);
    const clean = RULES.reduce(
      (text, { trigger, pattern, replacement }) => (trigger.test(text) ? text.replace(pattern, replacement) : text),
      known,
    );
    if (clean.length > LONG_TEXT) requireFew(clean.split(MASK).length - given.split(MASK).length);
    return clean;
  }

  /** Secrets that appear only once escapes are read. */
  function asRead(clean: string, names: boolean): string {
    const ranges = unescaped(clean).flatMap(({ text, written }) => rangesIn(text, names).map(written));
    return masked(clean, ranges, MASK);
  }

  /** Secrets that need no shape. */
  function plainIn(text: string, names: boolean, wraps = WRAPS_MAX): TextRange[] {
    const wrapped = wraps === 0 ? [] : wrappedSecretsIn(text, (one) => rangesIn(one, names, wraps - 1));
    return [...values.rangesIn(text), ...(names ? namedSecretsIn(text) : []), ...wrapped];
  }

  function rangesIn(text: string, names: boolean, wraps = WRAPS_MAX): TextRange[] {
    return [...plainIn(text, names, wraps), ...(isSuspicious(text) ? [...more(text), ...shapesIn(text)] : [])];
  }

  const scrubText = (text: string) => untilClean(text, true);
  return {
    scrubText,
    scrubValue: <T>(given: T) => cleaned(given, scrubText) as T,
    holdsKey: (text) => untilClean(text, false) !== text,
  };
}

function shapesIn(text: string): TextRange[] {
  return RULES.filter(({ trigger }) => trigger.test(text)).flatMap(({ pattern }) =>
    Array.from(text.matchAll(pattern), ({ 0: whole, index, groups }): TextRange => {
      return [index + (groups?.["kept"]?.length ?? 0), index + whole.length];
    }),
  );
}
