/**
 * Ids are `<prefix>-<26 characters>`: 48 bits of milliseconds and 80 bits of randomness in lower-case base 32,
 * so they sort by time. The bytes come from the caller; nothing here is random.
 */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

export type IdPrefix =
  | "run"
  | "evt"
  | "int"
  | "key"
  | "req"
  | "cp"
  | "art"
  | "wrk"
  | "hook"
  | "dlv"
  | "ann"
  | "que"
  | "itm"
  | "inv"
  | "call"
  | "mem"
  | "cert";

export const RANDOM_BYTES = 10;
const TIME_CHARACTERS = 10;

export function formatId(prefix: IdPrefix, atMs: number, random: Uint8Array): string {
  let time = "";
  let rest = atMs;
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    time = ALPHABET[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  let tail = "";
  let bits = 0;
  let held = 0;
  for (let i = 0; i < RANDOM_BYTES; i++) {
    held = (held << 8) | (random[i] ?? 0);
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      tail += ALPHABET[(held >>> bits) & 31];
      held &= (1 << bits) - 1;
    }
  }
  return `${prefix}-${time}${tail}`;
}

const SHAPE = /^[a-z]{2,4}-[0-9a-hjkmnp-tv-z]{26}$/;

/** Cheap check before a lookup: any other text is not found. */
export function isId(text: string): boolean {
  return SHAPE.test(text);
}

/** When an id was made, by the clock of its maker; undefined for any other text. */
export function timeOfId(id: string): number | undefined {
  if (!isId(id)) return undefined;
  const start = id.indexOf("-") + 1;
  return [...id.slice(start, start + TIME_CHARACTERS)].reduce((ms, char) => ms * 32 + ALPHABET.indexOf(char), 0);
}
