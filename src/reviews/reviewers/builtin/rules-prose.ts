import { type Block, blocksOf, sentencesOf } from "./blocks.ts";
import type { Document } from "./document.ts";
import { quoted, type Rule } from "./rule.ts";

const PROSE = ["prose", "markdown"] as const;

/** Read once for a document, however many rules look at it. */
const blocks = new WeakMap<Document, readonly Block[]>();

function blocksIn(document: Document): readonly Block[] {
  const found = blocks.get(document) ?? blocksOf(document);
  blocks.set(document, found);
  return found;
}

function isText({ type }: Block): boolean {
  return type === "paragraph" || type === "item";
}

const ANSWER = /^(?:yes|no|none|because|answer|a:|\*\*a|it depends|so that|by |we |since )/i;

const openQuestion: Rule = {
  id: "open-question",
  aspect: "completeness",
  kinds: PROSE,
  finds: "Questions at the end of a paragraph or list item that nothing after them answers, and “???”.",
  recommendation: "Answer it, or name who will and by when.",
  *find(document) {
    const all = blocksIn(document);
    for (const [i, block] of all.entries()) {
      if (!isText(block)) continue;
      const question = questionIn(block, all[i + 1]);
      if (question === undefined) continue;
      yield {
        key: question,
        part: block.text,
        description: `The paragraph at line ${block.line.number} leaves a question open: ${quoted(question)}.`,
      };
    }
  },
};

function questionIn(block: Block, next: Block | undefined): string | undefined {
  const sentences = sentencesOf(block.text);
  const unsure = sentences.find(({ text }) => text.includes("???"));
  if (unsure) return unsure.text;
  const last = sentences.at(-1)?.text ?? "";
  if (!/\?[)"'”’*_]{0,3}$/.test(last)) return undefined;
  return isAnswered(block, next) ? undefined : last;
}

/** A list, a table or code after a question answers it; so does a paragraph that begins like an answer. */
function isAnswered(block: Block, next: Block | undefined): boolean {
  if (next === undefined || next.type === "heading") return false;
  if (next.type === "paragraph") return ANSWER.test(next.text);
  return !(block.type === "item" && next.type === "item");
}

const SENTENCE_WORDS = 45;

const longSentence: Rule = {
  id: "long-sentence",
  aspect: "clarity",
  kinds: PROSE,
  finds: `Sentences of more than ${SENTENCE_WORDS} words.`,
  recommendation: "Make two or three sentences of it.",
  *find(document) {
    for (const block of blocksIn(document).filter(isText)) {
      for (const { text } of sentencesOf(block.text)) {
        const words = text.split(/\s+/).length;
        if (words <= SENTENCE_WORDS) continue;
        yield {
          key: text.slice(0, 200),
          part: text,
          description: `A sentence in the paragraph at line ${block.line.number} has ${words} words: ${quoted(text)}.`,
        };
      }
    }
  },
};

const repeatedWord: Rule = {
  id: "repeated-word",
  aspect: "clarity",
  kinds: PROSE,
  finds: "The same word twice in a row.",
  recommendation: "Take one of the two out.",
  *find(document) {
    for (const block of blocksIn(document).filter(isText)) {
      const all = block.text.matchAll(/(?<![\p{L}\p{N}_'-])(\p{Ll}{2,20})\s+\1(?![\p{L}\p{N}_'-])/gu);
      const found = [...all].find(([, word = ""]) => !MAY_REPEAT.has(word));
      if (!found) continue;
      yield {
        key: block.text.slice(Math.max(0, found.index - 40), found.index + found[0].length + 40),
        part: block.text,
        description: `The paragraph at line ${block.line.number} has a word twice: ${quoted(found[0])}.`,
      };
    }
  },
};

const MAY_REPEAT: ReadonlySet<string> = new Set(["that", "had", "is", "very", "bye", "no", "so", "do"]);

export const PROSE_RULES: readonly Rule[] = [openQuestion, longSentence, repeatedWord];
