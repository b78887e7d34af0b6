import {
  bytesOf,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skimMark,
  skimNull,
  skimPlainString,
  skimSpace,
  skimValue,
  skimWord,
  UNSURE,
} from "./skim-json.ts";

/** Skims one value, and may note it in `into`. */
export type Skim<T> = (into: T, bytes: Uint8Array, at: number) => number;

/** A required member is `[skim]`, an optional one the skim alone. */
export type SkimMember<T> = Skim<T> | readonly [Skim<T>];
export type SkimTable<T, Name extends string = string> = Readonly<Record<Name, SkimMember<T>>>;

/**
 * Skims an object with known members. A known name that is repeated or missing is unsure, and so is a name with escapes, since it may spell
 * a known one. `depth` counts the brackets that are open inside of it.
 */
export function skimmerOf<T>(table: SkimTable<T>, depth: number): Skim<T> {
  const names = Object.keys(table).map((name) => bytesOf(`"${name}"`));
  const skims = Object.values(table).map((entry) => (typeof entry === "function" ? entry : entry[0]));
  const needed = Object.values(table).reduce(
    (mask, entry, i) => (typeof entry === "function" ? mask : mask | (1 << i)),
    0,
  );

  return (into, bytes, at) => {
    if (bytes[at] !== OPEN_BRACE) return UNSURE;
    let here = skimSpace(bytes, at + 1);
    if (bytes[here] === CLOSE_BRACE) return needed === 0 ? here + 1 : UNSURE;
    let seen = 0;
    // Writers keep an order, so the next name is mostly the one after the last.
    let next = 0;
    for (;;) {
      const start = here;
      let index = next < names.length ? next : 0;
      here = skimWord(bytes, start, names[index] as Uint8Array);
      if (here === UNSURE) {
        here = skimPlainString(bytes, start);
        if (here === UNSURE) return UNSURE;
        index = indexOfBytes(names, bytes, start, here);
      }
      here = skimMark(bytes, here, COLON);
      if (here === UNSURE) return UNSURE;
      if (index === UNSURE) {
        here = skimValue(bytes, here, depth);
      } else {
        const bit = 1 << index;
        if ((seen & bit) !== 0) return UNSURE;
        seen |= bit;
        next = index + 1;
        here = (skims[index] as Skim<T>)(into, bytes, here);
      }
      if (here === UNSURE) return UNSURE;
      here = skimSpace(bytes, here);
      if (bytes[here] === CLOSE_BRACE) return (seen & needed) === needed ? here + 1 : UNSURE;
      here = skimMark(bytes, here, COMMA);
      if (here === UNSURE) return UNSURE;
    }
  };
}

/** `null`, or a value that the given function skims. */
export function orNull<T>(skim: Skim<T>): Skim<T> {
  return (into, bytes, at) => {
    const behind = skimNull(bytes, at);
    return behind === UNSURE ? skim(into, bytes, at) : behind;
  };
}

export function listOf<T>(skim: Skim<T>): Skim<T> {
  return (into, bytes, at) => {
    if (bytes[at] !== OPEN_BRACKET) return UNSURE;
    let here = skimSpace(bytes, at + 1);
    if (bytes[here] === CLOSE_BRACKET) return here + 1;
    for (;;) {
      here = skim(into, bytes, here);
      if (here === UNSURE) return UNSURE;
      here = skimSpace(bytes, here);
      if (bytes[here] === CLOSE_BRACKET) return here + 1;
      here = skimMark(bytes, here, COMMA);
      if (here === UNSURE) return UNSURE;
    }
  };
}

/** One of a list of words, each in its quotes, or `UNSURE`. */
export function indexOfBytes(words: readonly Uint8Array[], bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as Uint8Array;
    if (word.length === length && skimWord(bytes, start, word) === end) return i;
  }
  return UNSURE;
}

/** The words with their quotes, as files have them. */
export function quoted(words: readonly string[]): Uint8Array[] {
  return words.map((word) => bytesOf(`"${word}"`));
}

/** Skims a string of the list and notes which one it is. */
export function oneOf<T>(words: readonly string[], note: (into: T, index: number) => void): Skim<T> {
  const known = quoted(words);
  return (into, bytes, at) => {
    if (bytes[at] !== QUOTE) return UNSURE;
    const end = skimPlainString(bytes, at);
    if (end === UNSURE) return UNSURE;
    const index = indexOfBytes(known, bytes, at, end);
    if (index === UNSURE) return UNSURE;
    note(into, index);
    return end;
  };
}
