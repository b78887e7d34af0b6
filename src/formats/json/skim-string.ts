/**
 * Walks over JSON in UTF-8 bytes without building values. Every function takes the place where something begins and returns the
 * place behind it, or `UNSURE`: then it is no such thing, or not an ordinary one, and the exact reader decides. What is
 * walked over is exactly what that reader accepts, on two conditions: the bytes are UTF-8, and a line feed follows somewhere, which
 * nothing here walks over. So no function asks where the bytes end.
 */
export const UNSURE = -1;

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const ZERO = 0x30;
const LETTER_U = 0x75;

/** 1 for what ends the plain part of a string: a quote, a backslash, a control character. */
const STOPS = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < SPACE ? 1 : 0,
);
/** 1 for what may follow a backslash on its own, and for those of them that writers use. */
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

/** A string whose bytes are its text. */
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

/** From behind the backslash. */
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
