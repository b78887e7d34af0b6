import { createHash } from "node:crypto";

const CHARACTERS = 32;

/**
 * A word that occurs in none of the texts, in any case, so that no part of them can look like their end. It is a hash of the texts: the
 * same texts have the same fence.
 */
export function fenceFor(texts: readonly string[]): string {
  const all = texts.map((text) => text.toLowerCase());
  for (let count = 0; ; count++) {
    const hash = createHash("sha256")
      .update(JSON.stringify([count, texts]))
      .digest("hex");
    const fence = hash.slice(0, CHARACTERS);
    if (!all.some((text) => text.includes(fence))) return fence;
  }
}
