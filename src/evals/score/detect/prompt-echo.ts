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
  const said = wordsOf(output.join("\n"));
  const length = Math.min(PASSAGE_WORDS, prompt.length);
  const passages = new Set(windows(said, length));
  let repeated = 0;
  let end = 0;
  let any = false;
  for (let i = 0; i + length <= prompt.length; i++) {
    if (!passages.has(prompt.slice(i, i + length).join(" "))) continue;
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

function* windows(words: readonly string[], length: number): Generator<string> {
  for (let i = 0; i + length <= words.length; i++) yield words.slice(i, i + length).join(" ");
}
