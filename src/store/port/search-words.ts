/** Of one text. One that has more is found by its first ones: PostgreSQL holds no more than a megabyte of them. */
const WORDS_MAX = 10_000;
const CHARACTERS_MAX = 200_000;

/** The rest of a longer word is cut off, in texts and in questions alike. */
const WORD_MAX = 64;

const MARKS = /\p{M}+/gu;
/** Scripts without spaces: every sign is a word, because word boundaries are unknown. */
const SIGNS = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const WORDS = new RegExp(`[${SIGNS}]|(?:(?![${SIGNS}])[\\p{L}\\p{N}])+`, "gu");

/**
 * The words by which a text is found, each once: letters and digits without marks, in lower case. Both databases are given
 * these and take nothing apart themselves, so that they find the same.
 */
export function searchWords(...texts: readonly (string | undefined)[]): string[] {
  const words = new Set<string>();
  let characters = 0;
  for (const text of texts) {
    for (const [word] of plain(text ?? "").matchAll(WORDS)) {
      const kept = [...word.slice(0, 2 * WORD_MAX)].slice(0, WORD_MAX).join("");
      if (words.has(kept)) continue;
      characters += kept.length + 1;
      if (words.size === WORDS_MAX || characters > CHARACTERS_MAX) return [...words];
      words.add(kept);
    }
  }
  return [...words];
}

/** Signs that stand for whole words, up to eighteen characters of them: a text of such signs would be worked on as if it were that much longer. */
const WORD_SIGNS = /[\u3300-\u3357\ufdfa\ufdfb]/g;

/** Composed again at the end: Korean syllables come apart like letters and their marks do. */
function plain(text: string): string {
  return text.replace(WORD_SIGNS, " ").normalize("NFKD").toLowerCase().replace(MARKS, "").normalize("NFC");
}
