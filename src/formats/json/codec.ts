import { type Json, JsonObject, Unreadable } from "./exact-json.ts";
import { type FreeForm, type FreeMap, freeForm, printFreeForm, printString } from "./print-json.ts";

/**
 * The reader and writer of a part of a file: a format is a table of codecs, in the order in which its members are written. Reading throws
 * `Unreadable`. Every member of a value is written, with its default where it was absent.
 */
export interface Codec<T> {
  read(value: Json): T;
  print(value: T): string;
  /** Present when the member may be absent. */
  readonly absent?: { readonly value: T };
}

export type Decoded<C> = C extends Codec<infer T> ? T : never;

export const text: Codec<string> = {
  read: (value) => (typeof value === "string" ? value : unexpected(value, "a string")),
  print: printString,
};

export const u32 = integer(0n, 2n ** 32n - 1n);
export const u64 = integer(0n, 2n ** 64n - 1n);
export const i32 = integer(-(2n ** 31n), 2n ** 31n - 1n);
export const i64 = integer(-(2n ** 63n), 2n ** 63n - 1n);

function integer(least: bigint, most: bigint): Codec<bigint> {
  return {
    read: (value) => {
      if (typeof value === "bigint" && value >= least && value <= most) return value;
      return unexpected(value, `an integer from ${least} to ${most}`);
    },
    print: String,
  };
}

/** One of a closed list of words. */
export function word<W extends string>(...words: readonly W[]): Codec<W> {
  return {
    read: (value) => {
      if (typeof value === "string" && (words as readonly string[]).includes(value)) return value as W;
      return unexpected(value, `one of ${words.join(", ")}`);
    },
    print: printString,
  };
}

/** Absent and `null` both mean none; none is written as `null`. */
export function optional<T>(codec: Codec<T>): Codec<T | null> {
  return {
    read: (value) => (value === null ? null : codec.read(value)),
    print: (value) => (value === null ? "null" : codec.print(value)),
    absent: { value: null },
  };
}

/** May be absent, and then has this value; `null` is refused. */
export function withDefault<T>(codec: Codec<T>, value: T): Codec<T> {
  return { ...codec, absent: { value } };
}

export function list<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    read: (value) => (Array.isArray(value) ? value.map((one: Json) => codec.read(one)) : unexpected(value, "a list")),
    print: (values) => `[${values.map((one) => codec.print(one)).join(",")}]`,
  };
}

export const anything: Codec<FreeForm> = { read: freeForm, print: printFreeForm };

export const anyMap: Codec<FreeMap> = {
  read: (value) => (value instanceof JsonObject ? (freeForm(value) as FreeMap) : unexpected(value, "an object")),
  print: printFreeForm,
};

// biome-ignore lint/suspicious/noExplicitAny: each table defines its members.
export type Members = Readonly<Record<string, Codec<any>>>;
export type Value<M extends Members> = { readonly [K in keyof M]: Decoded<M[K]> };

/** An object with known members, in the order of the table. Unknown ones are ignored and lost; known ones may not be repeated. */
export function object<const M extends Members>(members: M): Codec<Value<M>> {
  return {
    read: (value) => (value instanceof JsonObject ? readMembers(value, members) : unexpected(value, "an object")),
    print: (value) => `{${printMembers(value, members)}}`,
  };
}

export function readMembers<const M extends Members>(
  object: JsonObject,
  members: M,
  alsoKnown: readonly string[] = [],
): Value<M> {
  const found = new Map<string, Json>();
  for (const [name, value] of object.members) {
    if (!Object.hasOwn(members, name) && !alsoKnown.includes(name)) continue;
    if (found.has(name)) throw new Unreadable(`\`${name}\` is there twice`);
    found.set(name, value);
  }
  const entries = Object.entries(members).map(([name, codec]) => [name, member(found.get(name), name, codec)]);
  return Object.fromEntries(entries) as Value<M>;
}

function member<T>(value: Json | undefined, name: string, codec: Codec<T>): T {
  if (value === undefined) {
    if (codec.absent) return codec.absent.value;
    throw new Unreadable(`\`${name}\` is missing`);
  }
  try {
    return codec.read(value);
  } catch (error) {
    if (error instanceof Unreadable) throw new Unreadable(`\`${name}\`: ${error.message}`);
    throw error;
  }
}

/** Without the braces, so that a tag can precede them. */
export function printMembers<M extends Members>(value: Value<M>, members: M): string {
  return Object.keys(members)
    .map((name) => `${printString(name)}:${(members[name] as Codec<unknown>).print(value[name])}`)
    .join(",");
}

/** The string under this name, which decides the other members of the object. */
export function tagOf(value: Json, name: string): string {
  if (!(value instanceof JsonObject)) return unexpected(value, "an object");
  const tags = value.members.filter(([key]) => key === name).map(([, tag]) => tag);
  if (tags.length > 1) throw new Unreadable(`\`${name}\` is there twice`);
  const [tag] = tags;
  if (typeof tag === "string") return tag;
  throw new Unreadable(tag === undefined ? `\`${name}\` is missing` : `\`${name}\` is not a string`);
}

function unexpected(value: Json, wanted: string): never {
  throw new Unreadable(`${described(value)} where ${wanted} is expected`);
}

function described(value: Json): string {
  if (value instanceof JsonObject) return "an object";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value.length > 40 ? "a string" : quoted(value);
  return printFreeForm(value as FreeForm);
}

const UNSEEN = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Errors quote untrusted files and are printed on terminals: characters that move the cursor or reverse a line are escaped as well. */
function quoted(value: string): string {
  return printString(value).replace(UNSEEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
