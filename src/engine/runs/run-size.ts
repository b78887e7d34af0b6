/** The largest run by default. A request that reads such a run blocks the event loop for less than 250 ms. */
export const LARGEST_RUN = 16_000_000;

/** The most that one node may add to a run that is too large already: enough for the decision of a gate, not for a copied value. */
export const SMALL_ADDITION = 16_384;

interface Weights {
  /** Of the name of a member. */
  readonly name: number;
  /** Of an object, a list or a text. */
  readonly part: number;
}

const BYTES_ALONE: Weights = { name: 0, part: 0 };

/**
 * Weights in bytes, from the time that reading takes (JSON.parse, Node 20 and 24): at the limit of a run a byte may take 15 ns; a name that occurs
 * once takes up to 1,000 ns, because it makes a shape of objects of its own, and a short text, an object or a list up to 370 ns.
 */
const READING: Weights = { name: 64, part: 24 };

/** The size of a run or a part of it: its bytes of JSON, with weights for values that take longer to read. */
export function sizeOf(value: unknown, atMost = Number.POSITIVE_INFINITY): number {
  return counted(value, atMost, READING);
}

/** About how many bytes of JSON a value makes, escapes included: a text of control characters is six times as long in JSON. */
export function jsonBytes(value: unknown, atMost = Number.POSITIVE_INFINITY): number {
  return counted(value, atMost, BYTES_ALONE);
}

/** Counting stops once `atMost` is passed: a small value may refer to one large part a thousand times. */
function counted(value: unknown, atMost: number, weights: Weights): number {
  if (typeof value === "string") return weights.part + textSize(value, atMost);
  if (typeof value !== "object" || value === null) return 8;
  let size = 8 + weights.part;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size > atMost) return size;
      size += 5 + counted(item, atMost - size, weights);
    }
    return size;
  }
  // A list of tens of thousands of members would take longer to make than to count.
  for (const key in value) {
    if (size > atMost) return size;
    const member = (value as Readonly<Record<string, unknown>>)[key];
    size += weights.name + key.length + 4 + counted(member, atMost - size, weights);
  }
  return size;
}

/** Whether so much may be added to a run. A run that an earlier version left too large takes small additions, so that it can end. */
export function mayTake(runSize: number, added: number, sizeMax: number): boolean {
  return runSize > sizeMax ? added <= SMALL_ADDITION : runSize + added <= sizeMax;
}

function textSize(text: string, atMost: number): number {
  if (text.length > atMost) return text.length;
  let size = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20) size += 5;
    else if (code === 0x22 || code === 0x5c) size += 1;
    else if (code >= 0x80) size += code < 0x800 ? 1 : 2;
  }
  return size;
}

/** Bytes of JSON for one character, at most: control characters are written as escapes. */
const BYTES_PER_CHARACTER = 6;

/** Whether a value makes `bytes` of JSON at most. The lengths of its texts are enough to tell for nearly all runs. */
export function isSmall(value: unknown, bytes: number): boolean {
  return leftOf(value, bytes) >= 0 || jsonBytes(value, bytes) <= bytes;
}

function leftOf(value: unknown, bytes: number): number {
  if (typeof value === "string") return bytes - value.length * BYTES_PER_CHARACTER;
  if (typeof value !== "object" || value === null) return bytes - 8;
  let left = bytes - 8;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) return left;
      left = leftOf(item, left - 5);
    }
    return left;
  }
  for (const key in value) {
    if (left < 0) return left;
    left = leftOf((value as Readonly<Record<string, unknown>>)[key], left - key.length - 4);
  }
  return left;
}
