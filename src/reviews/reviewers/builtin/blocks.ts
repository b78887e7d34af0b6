import type { Document, Line } from "./document.ts";

export type BlockType = "paragraph" | "item" | "heading" | "other";

/** Lines that belong together in prose or Markdown; what stands in fences, tables and quotes is `other`. */
export interface Block {
  readonly type: BlockType;
  readonly line: Line;
  /** Its lines, joined by blanks. */
  readonly text: string;
}

export function blocksOf({ kind, lines }: Document): Block[] {
  const blocks: Block[] = [];
  let open: { type: BlockType; line: Line; texts: string[] } | undefined;
  const close = () => {
    if (open) blocks.push({ type: open.type, line: open.line, text: open.texts.join(" ") });
    open = undefined;
  };
  for (const line of lines) {
    const text = line.text.trim();
    const type = typeOf(line, kind === "markdown");
    if (text === "" && !line.isFenced) {
      close();
    } else if (type === "paragraph" && open !== undefined && (open.type === "paragraph" || open.type === "item")) {
      open.texts.push(text);
    } else if (type === "other" && open?.type === "other") {
      // Nothing is read of it, so nothing is gathered.
    } else {
      close();
      open = { type, line, texts: [type === "item" ? text.replace(ITEM, "") : text] };
    }
  }
  close();
  return blocks;
}

const ITEM = /^\s*(?:[-*+•]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?/;

function typeOf(line: Line, isMarkdown: boolean): BlockType {
  if (line.isFenced) return "other";
  if (line.level !== undefined) return "heading";
  if (ITEM.test(line.text)) return "item";
  return isMarkdown && /^\s*(?:[|>]|<\/?[a-z!]|\[[^\]]+\]:|(?:[-*_]\s*){3,}$|={3,}\s*$)/i.test(line.text)
    ? "other"
    : "paragraph";
}

export interface Sentence {
  readonly text: string;
  /** Whether it is the last of its block. */
  readonly isLast: boolean;
}

/** Cut after a mark that ends a sentence and is followed by a blank. */
export function sentencesOf(text: string): Sentence[] {
  const texts = withoutCode(text)
    .split(/(?<=[.!?…][)"'”’*_]{0,3})\s+/)
    .filter((one) => one.trim() !== "");
  return texts.map((one, i) => ({ text: one.trim(), isLast: i === texts.length - 1 }));
}

/** Code and addresses within a sentence are not its words. */
function withoutCode(text: string): string {
  return text.replace(/`[^`]{1,2000}`/g, "`…`").replace(/\bhttps?:\/\/\S+/g, "…");
}
