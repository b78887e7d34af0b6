import type { TextRange } from "./text-range.ts";

/** A shorter one would take the words out of innocent sentences. */
const SHORTEST = 8;
const BEGINNINGS = 4096;

/**
 * Values that are secret whatever they look like. A text is gone over once, however many values there are: a host may
 * hold the secrets of thousands of webhooks.
 */
export class KnownValues {
  /** By how they begin; of those that begin alike the longest is first, so that no tail is left showing. */
  #byHead = new Map<string, readonly string[]>();
  #mayBegin = new Uint8Array(BEGINNINGS);

  constructor(values: Iterable<string> = []) {
    this.set(values);
  }

  /** In place of all there were. */
  set(values: Iterable<string>): void {
    const byHead = new Map<string, string[]>();
    const mayBegin = new Uint8Array(BEGINNINGS);
    for (const value of new Set([...values].flatMap((value) => [value, inBytes(value)]))) {
      if (value.length < SHORTEST) continue;
      const head = value.slice(0, SHORTEST);
      byHead.set(
        head,
        [...(byHead.get(head) ?? []), value].sort((a, b) => b.length - a.length),
      );
      mayBegin[beginning(value, 0)] = 1;
    }
    this.#byHead = byHead;
    this.#mayBegin = mayBegin;
  }

  rangesIn(text: string): TextRange[] {
    const ranges: TextRange[] = [];
    if (this.#byHead.size === 0) return ranges;
    for (let at = 0; at <= text.length - SHORTEST; at++) {
      if (this.#mayBegin[beginning(text, at)] === 0) continue;
      const found = this.#byHead.get(text.slice(at, at + SHORTEST))?.find((value) => text.startsWith(value, at));
      if (found !== undefined) ranges.push([at, at + found.length]);
    }
    return ranges;
  }
}

/** As it looks in a URL: one character for each of its bytes. */
function inBytes(value: string): string {
  return Buffer.from(value, "utf8").toString("latin1");
}

function beginning(text: string, at: number): number {
  return (text.charCodeAt(at) * 131 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) % BEGINNINGS;
}
