import { MASK } from "../protocol/events.ts";
import { KnownValues } from "./known-values.ts";
import { someLongWord } from "./long-words.ts";
import { type FindSecrets, TRIGGER } from "./rule-set.ts";
import { SECRET_SHAPES } from "./secret-shapes.ts";
import { masked, type TextRange } from "./text-range.ts";
import { unescaped } from "./unescaped.ts";
import { VENDOR_SHAPES } from "./vendor-shapes.ts";

/** Takes secrets out of what people and other systems wrote. Cleaning twice changes nothing more. Never throws. */
export interface Scrubber {
  scrubText(text: string): string;
  /** Every string in it, names of members too. What holds no secret is returned as it is, not copied. */
  scrubValue<T>(value: T): T;
}

export interface ScrubberSettings {
  /** Values that are secret whatever they look like. */
  readonly known?: KnownValues | readonly string[];
  /** Finds more than our own shapes do, see `rule-set.ts`. */
  readonly more?: FindSecrets;
}

const SHAPES = [...SECRET_SHAPES, ...VENDOR_SHAPES];

const ANY_TRIGGER = new RegExp([...SHAPES.map(({ trigger }) => trigger.source), TRIGGER.source].join("|"), "i");

/** What secrets that may be shorter than others stand behind. One by one: together they take much longer. */
const HERALDS = [
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

/** One quick look at a text tells whether any secret can be in it at all; most have none. */
function isSuspicious(text: string): boolean {
  return HERALDS.some((herald) => herald.test(text)) || someLongWord(text, hasTrigger);
}

function hasTrigger(word: string): boolean {
  if (word.length < LONG_WORD) return ANY_TRIGGER.test(word);
  return TRIGGER.test(word) || SHAPES.some(({ trigger }) => trigger.test(word));
}

const RULES = SHAPES.map(({ trigger, pattern }) => ({
  trigger,
  pattern,
  replacement: pattern.source.includes("(?<kept>") ? `$<kept>${MASK}` : MASK,
}));

/** A text that is still changing after so many was made to take long; nothing of it is shown. */
const ROUNDS_MAX = 8;

export function scrubber({ known = [], more = () => [] }: ScrubberSettings = {}): Scrubber {
  const values = known instanceof KnownValues ? known : new KnownValues(known);

  /** Until nothing changes any more: where a secret was taken out, what stood right behind it can be one now. */
  function scrubText(given: string): string {
    try {
      for (let text = given, round = 0; round < ROUNDS_MAX; round++) {
        const clean = once(text);
        if (clean === text) return clean;
        text = clean;
      }
    } catch {
      // A rule that cannot read a text cannot vouch for it either.
    }
    return MASK;
  }

  function once(text: string): string {
    const clean = asWritten(text);
    return asRead(clean) ?? clean;
  }

  function asWritten(given: string): string {
    const known = values.rangesIn(given);
    if (known.length === 0 && !isSuspicious(given)) return given;
    const clean = masked(given, [...known, ...more(given)], MASK);
    return RULES.reduce(
      (text, { trigger, pattern, replacement }) => (trigger.test(text) ? text.replace(pattern, replacement) : text),
      clean,
    );
  }

  /** A secret may be written so that it is one only for those who read what the text says. */
  function asRead(clean: string): string | undefined {
    const view = unescaped(clean);
    if (view === undefined) return undefined;
    const { text } = view;
    const found = [...values.rangesIn(text), ...(isSuspicious(text) ? [...more(text), ...shapesIn(text)] : [])];
    return masked(clean, found.map(view.written), MASK);
  }

  return { scrubText, scrubValue: <T>(given: T) => cleaned(given, scrubText) as T };
}

function shapesIn(text: string): TextRange[] {
  return RULES.filter(({ trigger }) => trigger.test(text)).flatMap(({ pattern }) =>
    Array.from(text.matchAll(pattern), ({ 0: whole, index, groups }): TextRange => {
      return [index + (groups?.["kept"]?.length ?? 0), index + whole.length];
    }),
  );
}

function cleaned(value: unknown, text: (text: string) => string): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  const before: readonly unknown[] = Object.values(value);
  const after = before.map((item) => cleaned(item, text));
  const same = after.every((item, i) => Object.is(item, before[i]));
  if (Array.isArray(value)) return same ? value : after;
  const names = Object.keys(value);
  const clean = apart(names, names.map(text));
  if (same && clean === names) return value;
  return Object.fromEntries(clean.map((name, i) => [name, after[i]]));
}

/** Names that became one are told apart by a number: no member is lost. */
function apart(names: string[], clean: readonly string[]): string[] {
  if (clean.every((name, i) => name === names[i])) return names;
  const uses = new Map<string, number>();
  return clean.map((name) => {
    let free = name;
    while (uses.has(free)) {
      const use = (uses.get(name) ?? 1) + 1;
      uses.set(name, use);
      free = `${name} ${use}`;
    }
    uses.set(free, 1);
    return free;
  });
}
