import { lineName, quoted, type Rule } from "./rule.ts";

const emptySection: Rule = {
  id: "empty-section",
  aspect: "completeness",
  kinds: ["markdown"],
  readsLines: false,
  finds: "Headings with nothing below them.",
  recommendation: "Write the section, or take its heading out.",
  *find(document) {
    const above: string[] = [];
    for (const { line, level, title, isEmpty } of document.markdown?.headings ?? []) {
      above.length = Math.min(above.length, level - 1);
      above[level - 1] = title;
      if (!isEmpty) continue;
      yield {
        key: above.filter((one) => one !== undefined).join(" / "),
        part: title,
        description: `The section ${quoted(title)} is empty: ${lineName({ number: line }, document)}.`,
      };
    }
  },
};

const openFence: Rule = {
  id: "open-fence",
  aspect: "structure",
  kinds: ["markdown"],
  readsLines: false,
  finds: "A fenced block that is never closed.",
  recommendation: "Close the block where the code ends.",
  *find(document) {
    for (const number of document.markdown?.openFences ?? []) {
      const after = document.lines[number]?.text ?? "";
      yield {
        key: `${document.lines[number - 1]?.place} ${after}`,
        part: after,
        description: `${lineName({ number }, document)} begins a block that is never closed.`,
      };
    }
  },
};

const deadAnchor: Rule = {
  id: "dead-anchor",
  aspect: "links",
  kinds: ["markdown"],
  readsLines: false,
  finds: "Links to a place in the document that is not there.",
  recommendation: "Point it at a heading that exists, or write the section it promises.",
  *find(document) {
    const { links = [], anchors } = document.markdown ?? {};
    for (const { line, target, words } of links) {
      if (!target.startsWith("#") || target.length < 2 || anchors?.has(decoded(target.slice(1)).toLowerCase()))
        continue;
      yield {
        key: target,
        part: `${words} ${target}`,
        description: `${lineName({ number: line }, document)} links ${quoted(words)} to ${quoted(target)}, which the document does not have.`,
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

/** Not after a word, where brackets are an index. */
const REFERENCE = /(?<![\w)\]])\[([^[\]]{1,500})\]\[[^[\]]{0,500}\]/g;

const deadReference: Rule = {
  id: "dead-reference",
  aspect: "links",
  kinds: ["markdown"],
  readsLines: false,
  finds: "Links by reference, `[words][name]`, whose name is not defined.",
  recommendation: "Define the reference, or write the address into the link.",
  *find(document) {
    // Defined references are links, so a reference left in a text is undefined.
    for (const { line, text } of document.markdown?.texts ?? []) {
      for (const [whole] of text.matchAll(REFERENCE)) {
        yield {
          key: whole,
          part: whole,
          description: `${lineName({ number: line }, document)} has the link ${quoted(whole)}, which refers to something that is not defined.`,
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
  readsLines: false,
  finds: "Links that lead nowhere, `[words]()` or `#`, or only on one machine: localhost, `file:`, a drive.",
  recommendation: "Give the address that readers can follow, or take the link out.",
  *find(document) {
    for (const { line, target, words } of document.markdown?.links ?? []) {
      const isNowhere = target === "" || target === "#";
      if (!isNowhere && !LOCAL.test(target)) continue;
      const where = isNowhere ? "nowhere" : `to ${quoted(target)}, which only the author's machine has`;
      yield {
        key: `${words} ${target}`,
        part: `${words} ${target}`,
        description: `${lineName({ number: line }, document)} has the link ${quoted(words)}, which leads ${where}.`,
      };
    }
  },
};

export const MARKDOWN_RULES: readonly Rule[] = [emptySection, openFence, deadAnchor, deadReference, deadLink];
