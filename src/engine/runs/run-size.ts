/** The largest run by default, in bytes of JSON. Every commit writes the whole run, and what one turn adds is one transaction. */
export const LARGEST_RUN = 64_000_000;

/**
 * About how many bytes of JSON a value makes, escapes included: a text of control characters is six times as long in JSON. Counting ends
 * once `atMost` is passed, because a small value may name one large part a thousand times.
 */
export function sizeOf(value: unknown, atMost = Number.POSITIVE_INFINITY): number {
  if (typeof value === "string") return textSize(value, atMost);
  if (typeof value !== "object" || value === null) return 8;
  let size = 8;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (size > atMost) return size;
      size += 5 + sizeOf(item, atMost - size);
    }
    return size;
  }
  // Without a list of the members: of tens of thousands of them, it takes longer to make than they take to count.
  for (const key in value) {
    if (size > atMost) return size;
    size += key.length + 4 + sizeOf((value as Readonly<Record<string, unknown>>)[key], atMost - size);
  }
  return size;
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

/** A character takes so many bytes of JSON at most: a control character is written as an escape. */
const BYTES_PER_CHARACTER = 6;

/** Whether a value surely makes `bytes` of JSON at most. A look at the lengths of its texts is enough for nearly all runs. */
export function isSmall(value: unknown, bytes: number): boolean {
  return leftOf(value, bytes) >= 0 || sizeOf(value, bytes) <= bytes;
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
