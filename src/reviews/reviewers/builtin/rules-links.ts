import type { Document, Line } from "./document.ts";
import { headingOf } from "./document.ts";
import { quoted, type Rule } from "./rule.ts";

const LINK = /(!?)\[([^[\]]{0,500})\]\(\s*(<[^<>]{0,2000}>|[^()\s]{0,2000})(?:\s+["'][^"']{0,500}["'])?\s*\)/g;
const REFERENCE = /(?<!\\)\[([^[\]]{1,500})\]\[([^[\]]{0,500})\]/g;
const DEFINITION = /^ {0,3}\[([^[\]]{1,500})\]:\s*\S/;

interface Link {
  readonly line: Line;
  readonly isImage: boolean;
  readonly words: string;
  readonly target: string;
}

/** Those in running text: code shows links rather than being them. */
function* linksIn({ lines }: Document): Generator<Link> {
  for (const line of lines) {
    if (line.isFenced || !line.text.includes("](")) continue;
    for (const [, bang, words = "", target = ""] of withoutCode(line.text).matchAll(LINK)) {
      yield { line, isImage: bang === "!", words, target: target.replace(/^<|>$/g, "") };
    }
  }
}

function withoutCode(text: string): string {
  return text.replace(/`[^`]{1,2000}`/g, "``");
}

const deadAnchor: Rule = {
  id: "dead-anchor",
  aspect: "links",
  kinds: ["markdown"],
  finds: "Links to a place in the document that is not there.",
  recommendation: "Point it at a heading that exists, or write the section it promises.",
  *find(document) {
    let known: ReadonlySet<string> | undefined;
    for (const { line, target, words } of linksIn(document)) {
      if (!target.startsWith("#") || target.length < 2) continue;
      known ??= anchorsOf(document);
      if (known.has(decoded(target.slice(1)).toLowerCase())) continue;
      yield {
        key: target,
        part: `${words} ${target}`,
        description: `The link ${quoted(words)} at line ${line.number} leads to ${target}, which the document does not have.`,
      };
    }
  },
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** As the common renderers name headings: repeated ones get a number. Names given in HTML count too. */
function anchorsOf({ lines }: Document): ReadonlySet<string> {
  const anchors = new Set<string>(["top"]);
  const times = new Map<string, number>();
  for (const { text, isFenced } of lines) {
    if (isFenced) continue;
    for (const [, name = ""] of text.matchAll(/\b(?:id|name)\s*=\s*["']([^"']{1,200})["']/g))
      anchors.add(name.toLowerCase());
    const title = headingOf(text)?.title;
    if (title === undefined) continue;
    const given = /\{#([^{}\s]{1,200})\}\s*$/.exec(title)?.[1];
    if (given !== undefined) anchors.add(given.toLowerCase());
    const slug = slugOf(title);
    const before = times.get(slug) ?? 0;
    times.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
}

function slugOf(title: string): string {
  return title
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

const deadReference: Rule = {
  id: "dead-reference",
  aspect: "links",
  kinds: ["markdown"],
  finds: "Links by reference, `[words][name]`, whose name is not defined.",
  recommendation: "Define the reference, or write the address into the link.",
  *find({ lines }) {
    const defined = new Set<string>();
    for (const { text, isFenced } of lines) {
      const name = isFenced ? undefined : DEFINITION.exec(text)?.[1];
      if (name !== undefined) defined.add(name.trim().toLowerCase());
    }
    for (const line of lines) {
      if (line.isFenced || !line.text.includes("][")) continue;
      for (const [whole, words = "", name = ""] of withoutCode(line.text).matchAll(REFERENCE)) {
        if (defined.has((name === "" ? words : name).trim().toLowerCase())) continue;
        yield {
          key: whole,
          part: whole,
          description: `The link ${quoted(whole)} at line ${line.number} refers to something that is not defined.`,
        };
      }
    }
  },
};

const LOCAL = /^(?:file:|https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?:[:/]|$)|[a-z]:[\\/])/i;

const deadLink: Rule = {
  id: "dead-link",
  aspect: "links",
  kinds: ["markdown"],
  finds: "Links that lead nowhere, `[words]()` or `#`, or only on one machine: localhost, `file:`, a drive.",
  recommendation: "Give the address that readers can follow, or take the link out.",
  *find(document) {
    for (const { line, target, words } of linksIn(document)) {
      if (target !== "" && target !== "#" && !LOCAL.test(target)) continue;
      const where =
        target === "" || target === "#" ? "nowhere" : `${quoted(target)}, which only the author's machine has`;
      yield {
        key: `${words} ${target}`,
        part: `${words} ${target}`,
        description: `The link ${quoted(words)} at line ${line.number} leads ${where === "nowhere" ? where : `to ${where}`}.`,
      };
    }
  },
};

const imageWithoutWords: Rule = {
  id: "image-without-words",
  aspect: "clarity",
  kinds: ["markdown"],
  finds: "Images without a description.",
  recommendation: "Say in the brackets what the image shows.",
  *find(document) {
    for (const { line, isImage, target, words } of linksIn(document)) {
      if (!isImage || words.trim() !== "" || target === "") continue;
      yield {
        key: target,
        part: target,
        description: `The image ${quoted(target)} at line ${line.number} has no description.`,
      };
    }
  },
};

export const LINK_RULES: readonly Rule[] = [deadAnchor, deadReference, deadLink, imageWithoutWords];
