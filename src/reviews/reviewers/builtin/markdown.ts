import MarkdownIt, { type Token } from "markdown-it";

/** The parts of a Markdown document for the rules. Lines are counted from 1. */
export interface Markdown {
  readonly headings: readonly Heading[];
  readonly links: readonly Link[];
  /** Names that links within the document may lead to. */
  readonly anchors: ReadonlySet<string>;
  /** Texts, without the code and the links among them. */
  readonly texts: readonly { readonly line: number; readonly text: string }[];
  /** The first lines of fenced blocks without an end. */
  readonly openFences: readonly number[];
}

export interface Heading {
  readonly line: number;
  readonly level: number;
  readonly title: string;
  readonly isEmpty: boolean;
}

export interface Link {
  readonly line: number;
  readonly words: string;
  readonly target: string;
}

/** CommonMark, nested no deeper than 20. Addresses stay as they are written, also those that a page would not show. */
const parser = new MarkdownIt("commonmark");
parser.validateLink = () => true;
parser.normalizeLink = (url) => url;
// An escaped character stays apart from the text around it: it is not a mark.
parser.disable("text_join");

export function readMarkdown(text: string): Markdown {
  const lines = text.split(/\r\n|\r|\n/);
  const tokens = parser.parse(text, {});
  const inlines = tokens.flatMap((token) => (token.type === "inline" ? [withLines(token)] : [])).flat();
  const headings = headingsIn(tokens);
  const html = [...tokens, ...inlines.map(({ token }) => token)].filter(({ type }) => type.startsWith("html_"));
  return {
    headings,
    links: linksIn(inlines),
    anchors: new Set(["top", ...slugsOf(headings), ...html.flatMap(({ content }) => namesIn(content))]),
    texts: inlines.flatMap(({ token, line }) => (token.type === "text" ? [{ line, text: token.content }] : [])),
    openFences: tokens.flatMap((token) => (token.type === "fence" && isOpen(token, lines) ? [firstLine(token)] : [])),
  };
}

interface Inline {
  readonly token: Token;
  readonly line: number;
}

/** Only blocks have line numbers; within one, each break begins the next line. */
function withLines(block: Token): Inline[] {
  let line = firstLine(block);
  return (block.children ?? []).map((token) => {
    const inline = { token, line };
    if (token.type === "softbreak" || token.type === "hardbreak") line++;
    return inline;
  });
}

function firstLine({ map }: Token): number {
  return (map?.[0] ?? 0) + 1;
}

/** A heading is empty when the next one, of its own or a higher level, follows with nothing but comments between. */
function headingsIn(tokens: readonly Token[]): Heading[] {
  const outer = tokens.flatMap((token, at) =>
    token.type === "heading_open" && token.level === 0 ? [{ token, at }] : [],
  );
  return outer.map(({ token, at }, i) => {
    const next = outer[i + 1];
    const level = levelOf(token);
    const between = tokens.slice(at + 3, next?.at);
    const isEmpty = (next === undefined || levelOf(next.token) <= level) && between.every(isComment);
    return { line: firstLine(token), level, title: wordsIn(tokens[at + 1]?.children ?? []).trim(), isEmpty };
  });
}

function levelOf({ tag }: Token): number {
  return Number(tag.slice(1));
}

function isComment({ type, content }: Token): boolean {
  const text = content.trim();
  return type === "html_block" && text.startsWith("<!--") && text.indexOf("-->") === text.length - 3;
}

function wordsIn(tokens: readonly Token[]): string {
  return tokens.map(({ type, content }) => (type.endsWith("break") ? " " : content)).join("");
}

function linksIn(inlines: readonly Inline[]): Link[] {
  const links: Link[] = [];
  let open: { readonly line: number; readonly target: string; readonly words: Token[] } | undefined;
  for (const { token, line } of inlines) {
    if (token.type === "image") links.push({ line, words: token.content, target: String(token.attrGet("src")) });
    if (token.type === "link_open") open = { line, target: String(token.attrGet("href")), words: [] };
    else if (token.type === "link_close" && open) {
      links.push({ line: open.line, words: wordsIn(open.words), target: open.target });
      open = undefined;
    } else open?.words.push(token);
  }
  return links;
}

/** Names of headings as the common renderers make them: repeated ones get a number. A name may follow the words, as `{#name}`. */
function slugsOf(headings: readonly Heading[]): string[] {
  const times = new Map<string, number>();
  return headings.flatMap(({ title }) => {
    const given = /\{#([^{}\s]{1,200})\}$/.exec(title)?.[1];
    const slug = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-");
    const before = times.get(slug) ?? 0;
    times.set(slug, before + 1);
    return [before === 0 ? slug : `${slug}-${before}`, ...(given === undefined ? [] : [given.toLowerCase()])];
  });
}

function namesIn(html: string): string[] {
  return [...html.matchAll(/\b(?:id|name)\s{0,9}=\s{0,9}["']([^"']{1,200})["']/g)].map(([, name = ""]) =>
    name.toLowerCase(),
  );
}

function isOpen({ map, markup }: Token, lines: readonly string[]): boolean {
  const [first, after] = map ?? [0, 0];
  const last = lines[after - 1]?.replace(/^[\s>]*/, "").trimEnd() ?? "";
  return after - 1 === first || !last.startsWith(markup) || last.replaceAll(markup.charAt(0), "") !== "";
}
