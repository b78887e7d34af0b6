import type { TextRange } from "./text-range.ts";

/** Shorter values would match words of harmless sentences. */
const SHORTEST = 8;
/** Characters of a beginning, and the number of buckets for beginnings. */
const BEGINNING = 4;
const BEGINNINGS = 65_536;

/** Values that are secret whatever their shape. A text is read once, however many values there are; a value is compared only where one may begin. */
export class KnownValues {
  /** Values by their beginning, the longest first, so that no tail is left visible. */
  #byHead: ReadonlyMap<string, readonly string[]> = new Map();
  #mayBegin = new Uint8Array(BEGINNINGS);

  constructor(values: Iterable<string> = []) {
    this.set(values);
  }

  /** Replaces all values. */
  set(values: Iterable<string>): void {
    const byHead = new Map<string, string[]>();
    const mayBegin = new Uint8Array(BEGINNINGS);
    for (const value of new Set([...values].flatMap(writings))) {
      if (value.length < SHORTEST) continue;
      const head = value.slice(0, SHORTEST);
      byHead.set(
        head,
        [...(byHead.get(head) ?? []), value].sort((a, b) => b.length - a.length),
      );
      let beginning = 0;
      for (let i = 0; i < BEGINNING; i++) beginning = withNext(beginning, value.charCodeAt(i));
      mayBegin[beginning] = 1;
    }
    this.#byHead = byHead;
    this.#mayBegin = mayBegin;
  }

  rangesIn(text: string): TextRange[] {
    const ranges: TextRange[] = [];
    const byHead = this.#byHead;
    const mayBegin = this.#mayBegin;
    if (byHead.size === 0) return ranges;
    let beginning = 0;
    for (let i = 0; i < text.length; i++) {
      beginning = withNext(beginning, text.charCodeAt(i));
      if (mayBegin[beginning] === 0) continue;
      const at = i - BEGINNING + 1;
      const found = byHead.get(text.slice(at, at + SHORTEST))?.find((value) => text.startsWith(value, at));
      if (found !== undefined) ranges.push([at, at + found.length]);
    }
    return ranges;
  }
}

/** A hash of the last four characters in sixteen bits; older characters are shifted out. */
function withNext(beginning: number, code: number): number {
  return ((beginning << 4) ^ code) & (BEGINNINGS - 1);
}

/** The notations of a value: plain, in JSON, in JSON in JSON, as bytes of a URL, in base64 at each offset, in hexadecimal digits. */
function writings(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const digits = bytes.toString("hex");
  const inJson = JSON.stringify(value).slice(1, -1);
  const plain = [value, inJson, JSON.stringify(inJson).slice(1, -1), inBytes(value)];
  // The shortest length applies to the value, not to its longer notations.
  return value.length < SHORTEST ? plain : [...plain, ...inBase64(bytes), digits, digits.toUpperCase()];
}

/** Base64 without the characters at both ends that share bits with neighbouring text. */
function inBase64(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    return (["base64", "base64url"] as const).map((encoding) =>
      Buffer.concat([Buffer.alloc(offset), bytes])
        .toString(encoding)
        .slice(first, last),
    );
  });
}

/** The bytes of a value as a URL shows them, one character for each. */
function inBytes(value: string): string {
  return Buffer.from(value, "utf8").toString("latin1");
}
