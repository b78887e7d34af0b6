import type { Line } from "./document.ts";
import { type Finding, lineName, quoted, type Rule } from "./rule.ts";

const TEXTS = ["prose", "markdown", "code", "data"] as const;

/** Upper-case wherever it stands alone; else only where it is plainly a mark. */
const MARK = /(?<![A-Za-z0-9])(?:TODO|FIXME|XXX|HACK)(?:s\b|(?![A-Za-z0-9]))|\b(?:todo|fixme)(?=\s?[:(])/gi;

function isMark(found: string, text: string, at: number): boolean {
  return found === found.toUpperCase() || /^s?\s?[:(]/.test(text.slice(at + found.length, at + found.length + 3));
}

const todoMark: Rule = {
  id: "todo-mark",
  aspect: "completeness",
  kinds: [...TEXTS, "json"],
  readsLines: true,
  finds: "TODO, FIXME, XXX and HACK marks, one remark each; in JSON also in names and values.",
  recommendation: "Do it now, or say where it is tracked and take the mark out.",
  *find(document) {
    for (const line of document.lines) {
      if (!line.isNew) continue;
      for (const { 0: found, index } of line.text.matchAll(MARK)) {
        const mark = found.replace(/s$/, "");
        if (!isMark(mark, line.text, index)) continue;
        const note = line.text
          .slice(index + found.length, index + found.length + 300)
          .replace(/^[\s:()-]+/, "")
          .trim();
        // Marks without words are distinguished by their place.
        const key = /\w+\W+\w+/.test(note) ? note : `${line.place} ${note}`;
        const name = mark.toUpperCase();
        yield {
          key: `${name} ${key}`,
          part: line.text,
          description: `${lineName(line, document)} has a ${name} mark: ${quoted(line.text.slice(index > 60 ? index : 0))}.`,
        };
      }
    }
  },
};

const PLACEHOLDERS = [
  /\blorem ipsum\b/i,
  /\bTB[DAC]\b/,
  /\?\?\?/,
  /\bto be (?:determined|decided|defined|announced|written|completed|added|filled in)\b/i,
  /\bcoming soon\b/i,
  /[<[{](?:insert|your|add|fill in|enter)\b[^<>[\]{}\n]{1,60}[>\]}]/i,
  /\b(?:your[-_ ](?:api[-_ ]key|name|email|company|domain|text|title)[-_ ]here|changeme|replace[-_ ]me|foo@example)\b/i,
  /\bsome text here\b/i,
];

const placeholderText: Rule = {
  id: "placeholder-text",
  aspect: "completeness",
  kinds: [...TEXTS, "json"],
  readsLines: true,
  finds:
    "Text that stands in for text: lorem ipsum, TBD, ???, “to be determined”, “coming soon”, `<insert …>`, changeme.",
  recommendation: "Put in what is meant, or take the place out until it is known.",
  *find(document) {
    for (const line of document.lines) {
      const found = line.isNew ? firstMatch(line.text, PLACEHOLDERS) : undefined;
      if (found === undefined) continue;
      yield {
        key: `${line.place} ${line.text.trim().slice(0, 200)}`,
        part: line.text,
        description: `${lineName(line, document)} still holds the placeholder ${quoted(found)}.`,
      };
    }
  },
};

export function firstMatch(text: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

const conflictMarker: Rule = {
  id: "conflict-marker",
  aspect: "consistency",
  kinds: TEXTS,
  readsLines: true,
  finds: "Marks that a version control system left where two changes met.",
  recommendation: "Decide between the two versions, and remove the marks.",
  *find(document) {
    const conflict = ({ line, between }: { line: Line; between: string[] }): Finding => ({
      key: `${line.place} ${
        between
          .find((text) => text.trim() !== "")
          ?.trim()
          .slice(0, 200) ?? line.text
      }`,
      part: between.join("\n"),
      description: `A conflict of two versions is not resolved: ${lineName(line, document)}.`,
    });
    let open: { readonly line: Line; readonly between: string[] } | undefined;
    for (const line of document.lines) {
      if (line.isNew && /^<{7}(?: |$)/.test(line.text)) open = { line, between: [] };
      else if (open !== undefined && /^>{7}(?: |$)/.test(line.text)) {
        yield conflict(open);
        open = undefined;
      } else if (open !== undefined && open.between.length < 100) open.between.push(line.text);
    }
    if (open !== undefined) yield conflict(open);
  },
};

export const TEXT_RULES: readonly Rule[] = [todoMark, placeholderText, conflictMarker];
