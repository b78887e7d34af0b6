/** Secrets are long words that nobody says; the shortest that has a shape of its own is so long. */
const LONG = 15;

const IN_WORDS = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+/=:@%-") {
  IN_WORDS[character.charCodeAt(0)] = 1;
}

/** Whether any word that is long enough to be a secret is `wanted`. Looks at few characters of a text without such. */
export function someLongWord(text: string, wanted: (word: string) => boolean): boolean {
  // Wherever a long word begins, it covers one of these places.
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isInWord(text, at)) continue;
    let start = at;
    while (start > 0 && isInWord(text, start - 1)) start--;
    let end = at + 1;
    while (end < text.length && isInWord(text, end)) end++;
    if (end - start >= LONG && wanted(text.slice(start, end))) return true;
    // On from the first place behind it; what is in between belongs to it.
    at += Math.floor((end - at) / LONG) * LONG;
  }
  return false;
}

function isInWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && IN_WORDS[code] === 1;
}
