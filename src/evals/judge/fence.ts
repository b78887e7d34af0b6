import { createHash } from "node:crypto";

const CHARACTERS = 32;

/**
 * A word that occurs in none of the texts, whatever their case, so that nothing in them can look like the end of them. The same for the
 * same texts: who asks twice asks the same.
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
