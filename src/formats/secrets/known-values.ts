import type { TextRange } from "./text-range.ts";

/** A shorter one would take the words out of innocent sentences. */
const SHORTEST = 8;
/** How many characters a beginning has, and how many beginnings are told apart. */
const BEGINNING = 4;
const BEGINNINGS = 65_536;

/**
 * Values that are secret whatever they look like. A text is gone over once, however many values there are, and looked at
 * closely only where one of them may begin.
 */
export class KnownValues {
  /** By how they begin; of those that begin alike the longest is first, so that no tail is left showing. */
  #byHead: ReadonlyMap<string, readonly string[]> = new Map();
  #mayBegin = new Uint8Array(BEGINNINGS);

  constructor(values: Iterable<string> = []) {
    this.set(values);
  }

  /** In place of all there were. */
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

/** Of the last four characters, in sixteen bits: what came before them has been pushed out. */
function withNext(beginning: number, code: number): number {
  return ((beginning << 4) ^ code) & (BEGINNINGS - 1);
}

/** How a value is written: as it is, in JSON, in JSON in JSON, as the bytes of a URL, in base64 from each place where it can begin, in hexadecimal digits. */
function writings(value: string): readonly string[] {
  const bytes = Buffer.from(value, "utf8");
  const digits = bytes.toString("hex");
  const inJson = JSON.stringify(value).slice(1, -1);
  const plain = [value, inJson, JSON.stringify(inJson).slice(1, -1), inBytes(value)];
  // Shorter values are not known, also where their digits are many.
  return value.length < SHORTEST ? plain : [...plain, ...inBase64(bytes), digits, digits.toUpperCase()];
}

/** Without the characters at both ends that also hold bits of what stands next to the value. */
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

/** As it looks in a URL: one character for each of its bytes. */
function inBytes(value: string): string {
  return Buffer.from(value, "utf8").toString("latin1");
}
