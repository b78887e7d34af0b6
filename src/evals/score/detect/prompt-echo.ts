/** Fewer words in a row can be chance, or the agent speaking of its work. */
const PASSAGE_WORDS = 12;

/** A prompt shorter than this is no text of its own. */
const PROMPT_WORDS_MIN = 5;

/**
 * Whether an output repeats its system prompt, word for word, capitals and punctuation aside: a passage of it, or at least half.
 * A prompt that is shorter than a passage is repeated only as a whole.
 */
export function echoOf(systemPrompt: string, output: readonly string[]): "most" | "passage" | undefined {
  const prompt = wordsOf(systemPrompt);
  if (prompt.length < PROMPT_WORDS_MIN) return undefined;
  const length = Math.min(PASSAGE_WORDS, prompt.length);
  const passages = windows(prompt, length);
  const repeats = among(new Set(passages), wordsOf(output.join("\n")), length);
  let repeated = 0;
  let end = 0;
  let any = false;
  for (const [i, passage] of passages.entries()) {
    if (!repeats.has(passage)) continue;
    any = true;
    repeated += i + length - Math.max(end, i);
    end = i + length;
  }
  if (!any) return undefined;
  return repeated * 2 >= prompt.length ? "most" : "passage";
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function windows(words: readonly string[], length: number): string[] {
  return Array.from({ length: words.length - length + 1 }, (_, i) => words.slice(i, i + length).join(" "));
}

/** The passages that occur in the output. An output may have a million words, and few of them begin a passage. */
function among(passages: ReadonlySet<string>, words: readonly string[], length: number): Set<string> {
  const beginnings = new Set([...passages].map((passage) => passage.slice(0, passage.indexOf(" "))));
  const found = new Set<string>();
  for (let i = 0; i + length <= words.length; i++) {
    if (!beginnings.has(words[i] ?? "")) continue;
    const passage = words.slice(i, i + length).join(" ");
    if (passages.has(passage)) found.add(passage);
  }
  return found;
}
