import { DEPTH_MAX } from "./exact-json.ts";

/**
 * Skims JSON in UTF-8 bytes without building values. Every function takes the place where something begins and returns the place behind it,
 * or `UNSURE` where it begins with something else or something unusual, and the exact reader decides. Everything that is skimmed is
 * accepted by that reader, on two conditions: the bytes are UTF-8, and a line feed follows somewhere. No function skims a line feed, so
 * none checks for the end of the bytes.
 */
export const UNSURE = -1;

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ZERO = 0x30;
const LETTER_U = 0x75;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
const TAB = 0x09;
const PLUS = 0x2b;
const POINT = 0x2e;
const LETTER_E = 0x65;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const MINUS = 0x2d;

/** 1 for bytes that end the plain part of a string: a quote, a backslash, a control character. */
const STOPS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < SPACE ? 1 : 0,
);
/** 1 for bytes that may follow a backslash on their own, and for those of them that writers use. */
const ESCAPES = flags('"\\\\/bfnrt');
const PRINTED_ESCAPES = flags('"\\\\bfnrt');
/** 1 for the control characters that have such a letter. */
const HAS_LETTER = flags("\b\f\n\r\t");

function flags(characters: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (characters.includes(String.fromCharCode(byte)) ? 1 : 0));
}

export function skimString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return UNSURE;
  let here = at + 1;
  for (;;) {
    while (STOPS[bytes[here] as number] === 0) here++;
    if (bytes[here] === QUOTE) return here + 1;
    if (bytes[here] !== BACKSLASH) return UNSURE;
    here = skimEscape(bytes, here + 1);
    if (here === UNSURE) return UNSURE;
  }
}

/** A string without escapes, whose bytes are its text. */
export function skimPlainString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return UNSURE;
  let here = at + 1;
  while (STOPS[bytes[here] as number] === 0) here++;
  return bytes[here] === QUOTE ? here + 1 : UNSURE;
}

/** A string with the escapes that a writer prints, and no others. */
export function skimPrintedString(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return UNSURE;
  let here = at + 1;
  for (;;) {
    while (STOPS[bytes[here] as number] === 0) here++;
    if (bytes[here] === QUOTE) return here + 1;
    if (bytes[here] !== BACKSLASH) return UNSURE;
    if (PRINTED_ESCAPES[bytes[here + 1] as number] === 1) here += 2;
    else if (isPrintedControl(bytes, here + 1)) here += 6;
    else return UNSURE;
  }
}

/** `u001b`: a control character that has no letter of its own. */
function isPrintedControl(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== LETTER_U || bytes[at + 1] !== ZERO || bytes[at + 2] !== ZERO) return false;
  const unit = hexAt(bytes, at + 1);
  return unit >= 0 && unit < SPACE && HAS_LETTER[unit] === 0 && !isUpperCase(bytes[at + 4] as number);
}

function isUpperCase(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}

/** `at` is the place behind the backslash. */
function skimEscape(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== LETTER_U) return ESCAPES[bytes[at] as number] === 1 ? at + 1 : UNSURE;
  const unit = hexAt(bytes, at + 1);
  if (unit < 0) return UNSURE;
  if (unit < 0xd800 || unit > 0xdfff) return at + 5;
  if (unit > 0xdbff || bytes[at + 5] !== BACKSLASH || bytes[at + 6] !== LETTER_U) return UNSURE;
  const low = hexAt(bytes, at + 7);
  return low >= 0xdc00 && low <= 0xdfff ? at + 11 : UNSURE;
}

/** Four hexadecimal digits, or less than 0. */
function hexAt(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let i = at; i < at + 4; i++) {
    const digit = hexDigit(bytes[i] as number);
    if (digit < 0) return UNSURE;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(byte: number): number {
  if (isDigit(byte)) return byte - ZERO;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : UNSURE;
}

export function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= 0x39;
}

/** Only the space character. A carriage return is left to the exact reader. */
export function skimSpace(bytes: Uint8Array, at: number): number {
  let here = at;
  while (bytes[here] === SPACE || bytes[here] === TAB) here++;
  return here;
}

/** The place behind a separator and the space on both sides of it. */
export function skimMark(bytes: Uint8Array, at: number, mark: number): number {
  if (bytes[at] === mark && (bytes[at + 1] as number) > SPACE) return at + 1;
  const here = skimSpace(bytes, at);
  return bytes[here] === mark ? skimSpace(bytes, here + 1) : UNSURE;
}

/** Every number below 10 to this power is in the range of a double. */
const POWER_MAX = 308;
const EXPONENT_DIGITS_MAX = 3;
const SAFE_DIGITS_MAX = 15;

/** A number that is certainly in the range of a double. */
function skimNumber(bytes: Uint8Array, at: number): number {
  let here = bytes[at] === MINUS ? at + 1 : at;
  const whole = here;
  here = skimDigits(bytes, here);
  const power = here - whole;
  if (power === 0 || power > POWER_MAX || (bytes[whole] === ZERO && power > 1)) return UNSURE;
  if (bytes[here] === POINT) {
    const fraction = here + 1;
    here = skimDigits(bytes, fraction);
    if (here === fraction) return UNSURE;
  }
  return ((bytes[here] as number) | 0x20) === LETTER_E ? skimExponent(bytes, here + 1, power) : here;
}

/** `at` is the place behind the letter; `power` is the exponent that the digits before the point add. */
function skimExponent(bytes: Uint8Array, at: number, power: number): number {
  const start = bytes[at] === MINUS || bytes[at] === PLUS ? at + 1 : at;
  const end = skimDigits(bytes, start);
  if (end === start || end - start > EXPONENT_DIGITS_MAX) return UNSURE;
  return bytes[at] === MINUS || power + safeInteger(bytes, start, end) <= POWER_MAX ? end : UNSURE;
}

export function skimDigits(bytes: Uint8Array, at: number): number {
  let here = at;
  while (isDigit(bytes[here] as number)) here++;
  return here;
}

/** A non-negative integer that is exact as a number. The caller refuses a fraction or an exponent behind it. */
export function skimSafeInteger(bytes: Uint8Array, at: number): number {
  const here = skimDigits(bytes, at);
  const digits = here - at;
  if (digits === 0 || digits > SAFE_DIGITS_MAX || (bytes[at] === ZERO && digits > 1)) return UNSURE;
  return here;
}

/** The value of an integer that `skimSafeInteger` has skimmed. */
export function safeInteger(bytes: Uint8Array, at: number, end: number): number {
  let value = 0;
  for (let i = at; i < end; i++) value = value * 10 + ((bytes[i] as number) - ZERO);
  return value;
}

const TRUE = bytesOf("true");
const FALSE = bytesOf("false");
const NULL = bytesOf("null");

export function skimNull(bytes: Uint8Array, at: number): number {
  return bytes[at] === LETTER_N ? skimWord(bytes, at, NULL) : UNSURE;
}

/** Exactly these bytes. */
export function skimWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return UNSURE;
  return at + word.length;
}

/** Any value. `depth` counts the brackets that are open around it. */
export function skimValue(bytes: Uint8Array, at: number, depth: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return skimString(bytes, at);
    case OPEN_BRACE:
      return skimObject(bytes, at, depth);
    case OPEN_BRACKET:
      return skimArray(bytes, at, depth);
    case LETTER_T:
      return skimWord(bytes, at, TRUE);
    case LETTER_F:
      return skimWord(bytes, at, FALSE);
    case LETTER_N:
      return skimWord(bytes, at, NULL);
    default:
      return skimNumber(bytes, at);
  }
}

/** An object whose members are not read. */
export function skimObject(bytes: Uint8Array, at: number, depth: number): number {
  if (depth >= DEPTH_MAX || bytes[at] !== OPEN_BRACE) return UNSURE;
  let here = skimSpace(bytes, at + 1);
  if (bytes[here] === CLOSE_BRACE) return here + 1;
  for (;;) {
    here = skimString(bytes, here);
    if (here === UNSURE) return UNSURE;
    here = skimMark(bytes, here, COLON);
    if (here === UNSURE) return UNSURE;
    here = skimValue(bytes, here, depth + 1);
    if (here === UNSURE) return UNSURE;
    here = skimSpace(bytes, here);
    if (bytes[here] === CLOSE_BRACE) return here + 1;
    here = skimMark(bytes, here, COMMA);
    if (here === UNSURE) return UNSURE;
  }
}

function skimArray(bytes: Uint8Array, at: number, depth: number): number {
  if (depth >= DEPTH_MAX) return UNSURE;
  let here = skimSpace(bytes, at + 1);
  if (bytes[here] === CLOSE_BRACKET) return here + 1;
  for (;;) {
    here = skimValue(bytes, here, depth + 1);
    if (here === UNSURE) return UNSURE;
    here = skimSpace(bytes, here);
    if (bytes[here] === CLOSE_BRACKET) return here + 1;
    here = skimMark(bytes, here, COMMA);
    if (here === UNSURE) return UNSURE;
  }
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
