import { MASK } from "../../protocol/events.ts";
import { hiddenArgument, hiddenByName, optionBefore, secretNameOf } from "./hidden-value.ts";
import { KnownValues } from "./known-values.ts";
import { someLongWord } from "./long-words.ts";
import { namedSecretsIn } from "./named-secrets.ts";
import { NAMED } from "./paired-secrets.ts";
import { type FindSecrets, TRIGGER } from "./rule-set.ts";
import { SECRET_SHAPES } from "./secret-shapes.ts";
import { masked, requireFew, type TextRange } from "./text-range.ts";
import { unescaped } from "./unescaped.ts";
import { VENDOR_SHAPES } from "./vendor-shapes.ts";
import { wrappedSecretsIn } from "./wrapped-secrets.ts";

/** Takes secrets out of what people and other systems wrote. Cleaning twice changes nothing more. Never throws. */
export interface Scrubber {
  scrubText(text: string): string;
  /** Every string in it, names of members too. What holds no secret is returned as it is, not copied. */
  scrubValue<T>(value: T): T;
  /** `scrubText` in a thread of its own, for texts that would hold up other requests. Absent: there is no such thread. */
  scrubLong?(text: string): Promise<string>;
  /**
   * Whether there is a secret in a text that is one whatever its name: for documents that are refused as a whole, and for what is
   * compared from one evaluation to the next. Code with a `password = "x"` in it is a fair task.
   */
  holdsKey(text: string): boolean;
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
const LONG_TEXT = 100_000;
const ROUNDS_MAX_LONG = 4;
/** A text may be wrapped in base64 twice. */
const WRAPS_MAX = 2;

export function scrubber({ known = [], more = () => [] }: ScrubberSettings = {}): Scrubber {
  const values = known instanceof KnownValues ? known : new KnownValues(known);

  /** Until nothing changes any more: where a secret was taken out, what stood right behind it can be one now. */
  function untilClean(given: string, names: boolean): string {
    const rounds = given.length > LONG_TEXT ? ROUNDS_MAX_LONG : ROUNDS_MAX;
    try {
      for (let text = given, round = 0; round < rounds; round++) {
        const clean = once(text, names);
        if (clean === text) return clean;
        text = clean;
      }
    } catch {
      // A rule that cannot read a text cannot vouch for it either.
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

  /** A secret may be written so that it is one only for those who read what the text says. */
  function asRead(clean: string, names: boolean): string {
    const ranges = unescaped(clean).flatMap(({ text, written }) => rangesIn(text, names).map(written));
    return masked(clean, ranges, MASK);
  }

  /** What needs no shape. */
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

export type CleanText = (text: string) => string;

/** How a value is cleaned. */
export interface Cleaning {
  readonly text: CleanText;
  /** Names of members; absent: as other texts. */
  readonly name?: CleanText;
  /** Which of the secret names hide their values; absent: all of them. */
  readonly hides?: (name: string) => boolean;
  /** How the value of a member is cleaned; absent: as the value around it. */
  readonly under?: (name: string, value: unknown) => Cleaning;
}

/** So many parts of a value are gone through before others may have their turn. */
const PARTS_AT_ONCE = 1_000;

interface Parts {
  seen: number;
}

/** A value with each of its texts, names of members too, replaced, and the values of secret names hidden. Maps are read like objects. */
export function cleaned(value: unknown, how: CleanText | Cleaning): unknown {
  const steps = cleanedInSteps(value, how);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps: a value may have more parts than others can wait for. */
export function cleanedInSteps(value: unknown, how: CleanText | Cleaning): Generator<void, unknown> {
  return cleanedPart(value, typeof how === "function" ? { text: how } : how, { seen: 0 });
}

function* cleanedPart(value: unknown, how: Cleaning, parts: Parts): Generator<void, unknown> {
  if (isLeaf(value)) return cleanLeaf(value, how);
  return Array.isArray(value)
    ? yield* cleanedList(value, how, parts)
    : yield* cleanedMembers(value as object, how, parts);
}

/** Items of a list; arguments are read with their program before them, which decides what a short option is. */
function* cleanedList(
  items: readonly unknown[],
  how: Cleaning,
  parts: Parts,
  program: readonly string[] = [],
): Generator<void, unknown> {
  const all = program.length === 0 ? items : [...program, ...items];
  const after: unknown[] = [];
  for (let i = program.length; i < all.length; i++) {
    const option = optionBefore(all, i);
    const item = hiddenArgument(all, i) ?? all[i];
    if (option !== undefined) after.push(yield* hidden(option, all[i], how, parts));
    else after.push(isLeaf(item) ? cleanLeaf(item, how) : yield* cleanedPart(item, how, parts));
    if (++parts.seen % PARTS_AT_ONCE === 0) yield;
  }
  return isSame(after, items) ? items : after;
}

function* cleanedMembers(value: object, how: Cleaning, parts: Parts): Generator<void, unknown> {
  const [names, before] = membersOf(value);
  const after: unknown[] = [];
  for (const [i, item] of before.entries()) {
    const name = names[i] ?? "";
    const within = how.under?.(name, item) ?? how;
    const secret = secretNameOf(names, before, i);
    if (secret !== undefined && how.hides?.(secret) !== false) after.push(yield* hidden(secret, item, within, parts));
    else if (isLeaf(item)) after.push(cleanLeaf(item, within));
    else if (name === "args" && Array.isArray(item)) {
      after.push(yield* cleanedList(item, within, parts, programAmong(names, before)));
    } else after.push(yield* cleanedPart(item, within, parts));
    if (++parts.seen % PARTS_AT_ONCE === 0) yield;
  }
  const clean = apart(names, names.map(how.name ?? how.text));
  return clean === names && isSame(after, before) ? value : rebuilt(value, clean, after);
}

function programAmong(names: readonly string[], values: readonly unknown[]): string[] {
  const program = values[names.indexOf("program")];
  return typeof program === "string" ? [program] : [];
}

function isLeaf(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function cleanLeaf(value: unknown, { text }: Cleaning): unknown {
  return typeof value === "string" ? text(value) : value;
}

function isSame(after: readonly unknown[], before: readonly unknown[]): boolean {
  return after.every((item, i) => Object.is(item, before[i]));
}

function membersOf(value: object): [names: string[], values: readonly unknown[]] {
  if (value instanceof Map) return [[...(value as Map<string, unknown>).keys()], [...value.values()]];
  return [Object.keys(value), Object.values(value)];
}

function rebuilt(like: object, names: readonly string[], values: readonly unknown[]): object {
  const members = names.map((name, i): [string, unknown] => [name, values[i]]);
  return like instanceof Map ? new Map(members) : Object.fromEntries(members);
}

/** Values of a secret name: texts, alone and in a list. Numbers, flags and objects are no secrets by name. */
function* hidden(name: string, value: unknown, how: Cleaning, parts: Parts): Generator<void, unknown> {
  if (typeof value === "string") return hiddenByName(name, value) ?? how.text(value);
  if (!Array.isArray(value)) return yield* hiddenWithin(name, value, how, parts);
  const after: unknown[] = [];
  for (const item of value as readonly unknown[]) {
    if (typeof item === "string") after.push(hiddenByName(name, item) ?? how.text(item));
    else after.push(yield* cleanedPart(item, how, parts));
    if (++parts.seen % PARTS_AT_ONCE === 0) yield;
  }
  return isSame(after, value) ? value : after;
}

/** Members of a description that hold values of what it describes. */
const VALUES: ReadonlySet<string> = new Set([...NAMED, "const", "example", "examples"]);

/** An object that describes the value of a secret name: `"password": { "type": "string", "default": "…" }`. */
function* hiddenWithin(name: string, value: unknown, how: Cleaning, parts: Parts): Generator<void, unknown> {
  const after = yield* cleanedPart(value, how, parts);
  if (typeof after !== "object" || after === null) return after;
  const [names, before] = membersOf(after);
  const values = before.map((item, i) => (isValueMember(names[i] ?? "", item) ? hiddenTexts(name, item) : item));
  return isSame(values, before) ? after : rebuilt(after, names, values);
}

/** A choice of several is what callers have to know; a choice of one is a value. */
function isValueMember(member: string, item: unknown): boolean {
  return VALUES.has(member) || (member === "enum" && Array.isArray(item) && item.length === 1);
}

function hiddenTexts(name: string, value: unknown): unknown {
  if (typeof value === "string") return hiddenByName(name, value) ?? value;
  if (!Array.isArray(value)) return value;
  const after = value.map((item: unknown) => (typeof item === "string" ? (hiddenByName(name, item) ?? item) : item));
  return isSame(after, value) ? value : after;
}

/** Names that became one are told apart by a number: no member is lost. Names with nothing taken out stay as they are. */
function apart(names: string[], clean: readonly string[]): string[] {
  if (clean.every((name, i) => name === names[i])) return names;
  const uses = new Map(names.filter((name, i) => name === clean[i]).map((name) => [name, 1]));
  return clean.map((name, i) => {
    if (name === names[i]) return name;
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
