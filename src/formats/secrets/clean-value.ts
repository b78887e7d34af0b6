import { MASK } from "../../protocol/words.ts";
import { isOption, isUserAndGroup, WORD_ATTACHED } from "./option-secrets.ts";
import { NAMED, NAMING } from "./paired-secrets.ts";
import { checked, isSecretName, isValue } from "./secret-names.ts";
import { masked } from "./text-range.ts";

export type CleanText = (text: string) => string;

export interface Cleaning {
  readonly text: CleanText;
  /** Cleans names of members; absent: as other texts. */
  readonly name?: CleanText;
  /** Whether a secret name hides its value; absent: always. */
  readonly hides?: (name: string) => boolean;
  /** The cleaning of a member's value; absent: that of the value around it. */
  readonly under?: (name: string, value: unknown) => Cleaning;
}

/** Parts of a value between two pauses. */
const PARTS_AT_ONCE = 1_000;

interface Parts {
  seen: number;
}

/** A copy of a value in which each text and member name is cleaned and values of secret names are hidden. Maps are read like objects. */
export function cleaned(value: unknown, how: CleanText | Cleaning): unknown {
  const steps = cleanedInSteps(value, how);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps, so that other work can run between them. */
export function cleanedInSteps(value: unknown, how: CleanText | Cleaning): Generator<void, unknown> {
  return cleanedPart(value, typeof how === "function" ? { text: how } : how, { seen: 0 });
}

function* cleanedPart(value: unknown, how: Cleaning, parts: Parts): Generator<void, unknown> {
  if (isLeaf(value)) return cleanLeaf(value, how);
  return Array.isArray(value)
    ? yield* cleanedList(value, how, parts)
    : yield* cleanedMembers(value as object, how, parts);
}

/** Arguments are read together with their program, which decides the meaning of short options. */
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

/** Values of a secret name: texts, alone or in a list. Numbers, flags and objects are not secret by name. */
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

/** Members of a schema that hold values. */
const VALUES: ReadonlySet<string> = new Set([...NAMED, "const", "example", "examples"]);

/** A schema of a secret value: `"password": { "type": "string", "default": "…" }`. */
function* hiddenWithin(name: string, value: unknown, how: Cleaning, parts: Parts): Generator<void, unknown> {
  const after = yield* cleanedPart(value, how, parts);
  if (typeof after !== "object" || after === null) return after;
  const [names, before] = membersOf(after);
  const values = before.map((item, i) => (isValueMember(names[i] ?? "", item) ? hiddenTexts(name, item) : item));
  return isSame(values, before) ? after : rebuilt(after, names, values);
}

/** Callers need to see a choice of several; a choice of one is a value. */
function isValueMember(member: string, item: unknown): boolean {
  return VALUES.has(member) || (member === "enum" && Array.isArray(item) && item.length === 1);
}

function hiddenTexts(name: string, value: unknown): unknown {
  if (typeof value === "string") return hiddenByName(name, value) ?? value;
  if (!Array.isArray(value)) return value;
  const after = value.map((item: unknown) => (typeof item === "string" ? (hiddenByName(name, item) ?? item) : item));
  return isSame(after, value) ? value : after;
}

/** Adds a number to cleaned names that became equal, so that no member is lost. Unchanged names stay as they are. */
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

/** The number of texts that differ between a value and its cleaned copy, which have the same member names. */
export function changedTexts(before: unknown, after: unknown): number {
  if (Object.is(before, after)) return 0;
  if (typeof before !== "object" || before === null || typeof after !== "object" || after === null) return 1;
  const members = after as Readonly<Record<string, unknown>>;
  return Object.entries(before).reduce((count, [name, item]) => count + changedTexts(item, members[name]), 0);
}

/** The hidden value of a member with a secret name; undefined for other names. */
function hiddenByName(name: string, value: string): string | undefined {
  if (!isSecretName(name) || value === "") return undefined;
  const range = checked(value, [0, value.length], name);
  return range === undefined ? undefined : masked(value, [range], MASK);
}

/** The name that makes a member's value secret: its own, or one given by another member. */
function secretNameOf(names: readonly string[], values: readonly unknown[], i: number): string | undefined {
  const name = names[i] ?? "";
  if (isSecretName(name)) return name;
  if (!NAMED.has(name)) return undefined;
  return names.flatMap((other, at): string[] => {
    const called = values[at];
    return NAMING.has(other) && typeof called === "string" && isSecretName(called) ? [called] : [];
  })[0];
}

/** The secret option before an argument; undefined where the argument is an option itself. */
function optionBefore(items: readonly unknown[], i: number): string | undefined {
  const [option, item] = [items[i - 1], items[i]];
  if (typeof option !== "string" || (typeof item === "string" && isOption(item))) return undefined;
  return /^--?[A-Za-z]/.test(option) && isSecretName(option) ? option : undefined;
}

/** An argument, hidden where the option before it is secret; undefined where it is not. */
function hiddenArgument(items: readonly unknown[], i: number): string | undefined {
  const item = items[i];
  if (typeof item !== "string") return undefined;
  const option = optionBefore(items, i);
  if (option !== undefined) return hiddenByName(option, item);
  if (items[i - 1] === "-u" || items[i - 1] === "--user") return hiddenLogin(items, i, item);
  return hiddenPassword(items, i, item);
}

/** A name and a password; not an address, a path or a pair of numbers. */
const LOGIN = /^([\w.@-]{1,64}):(?!\d+$|[/\\])(.+)$/s;

function hiddenLogin(items: readonly unknown[], i: number, item: string): string | undefined {
  const [, user = "", password = ""] = LOGIN.exec(item) ?? [];
  if (password === user || !isValue(password, "password")) return undefined;
  return isUserAndGroup(argumentsBefore(items, i - 1).join(" ")) ? undefined : `${user}:${MASK}`;
}

/** `-p` is a password for sshpass and for commands called login; for mysql only where the value is attached. */
function hiddenPassword(items: readonly unknown[], i: number, item: string): string | undefined {
  const isAttached = item.startsWith("-p") && item.length > 2;
  if (!isAttached && items[i - 1] !== "-p") return undefined;
  const before = argumentsBefore(items, isAttached ? i : i - 1);
  const isCommand = (pattern: RegExp) => before.some((argument) => pattern.test(argument));
  const value = isAttached ? item.slice(2) : item;
  const isPassword =
    /(?:^|\/)sshpass$/.test(before.at(-1) ?? "") ||
    (isAttached && isCommand(/(?:^|\/)mysql\w{0,10}$/)) ||
    (isCommand(/^login$/) && !(isAttached && value.search(WORD_ATTACHED) === 0));
  return isPassword && isValue(value, "password") ? `${item.slice(0, item.length - value.length)}${MASK}` : undefined;
}

/** Arguments before an option that are searched for its command. */
const ARGUMENTS_MAX = 12;

function argumentsBefore(items: readonly unknown[], i: number): string[] {
  return items.slice(Math.max(0, i - ARGUMENTS_MAX), Math.max(0, i)).filter((item) => typeof item === "string");
}
