import type { Document, Line } from "./document.ts";
import { walkJson } from "./json-walk.ts";
import { type Finding, quoted, type Rule } from "./rule.ts";

const TEXTS = ["prose", "markdown", "code", "data"] as const;

/** Upper-case wherever it stands alone; else only where it is plainly a mark. */
const MARK = /(?<![A-Za-z0-9])(?:TODO|FIXME|XXX|HACK)(?:s\b|(?![A-Za-z0-9]))|\b(?:todo|fixme)(?=\s?[:(])/gi;

function isMark(found: string, text: string, at: number): boolean {
  return found === found.toUpperCase() || /^s?\s?[:(]/.test(text.slice(at + found.length, at + found.length + 3));
}

/** The marks in a text, each with the words after it. Also for the strings in JSON. */
export function* marksIn(
  text: string,
): Generator<{ readonly mark: string; readonly note: string; readonly at: number }> {
  for (const { 0: found, index } of text.matchAll(MARK)) {
    const bare = found.replace(/s$/, "");
    if (!isMark(bare, text, index)) continue;
    const after = text.slice(index + found.length, index + found.length + 300);
    yield {
      mark: bare.toUpperCase(),
      note: (/^[^\r\n]*/.exec(after)?.[0] ?? "").replace(/^[\s:()-]+/, "").trim(),
      at: index,
    };
  }
}

const todoMark: Rule = {
  id: "todo-mark",
  aspect: "completeness",
  kinds: [...TEXTS, "json"],
  finds: "TODO, FIXME, XXX and HACK marks, one remark each; in JSON also in names and values.",
  recommendation: "Do it now, or say where it is tracked and take the mark out.",
  *find(document) {
    if (document.value !== undefined) {
      yield* todosInJson(document.value.json);
      return;
    }
    const lineAt = lineFinder(document);
    for (const { mark, note, at } of marksIn(document.text)) {
      const line = lineAt(at);
      // A mark without words is told from others by where it stands.
      const key = /\w+\W+\w+/.test(note) ? note : `${line.place} ${note}`;
      yield {
        key: `${mark} ${key}`,
        part: line.text,
        description: `Line ${line.number} has a ${mark} mark: ${quoted(line.text)}.`,
      };
    }
  },
};

function* todosInJson(json: unknown): Generator<Finding> {
  for (const { path, value, name } of walkJson(json)) {
    for (const text of [name, value]) {
      if (typeof text !== "string") continue;
      for (const { mark, note } of marksIn(text)) {
        yield {
          key: `${mark} ${path} ${note}`,
          part: text,
          description: `${path} has a ${mark} mark: ${quoted(text)}.`,
        };
      }
    }
  }
}

/** Offsets are asked for in ascending order. */
function lineFinder({ text, lines }: Document): (at: number) => Line {
  let index = 0;
  let end = endOfLine(text, 0);
  return (at) => {
    while (at >= end && index < lines.length - 1) {
      index++;
      end = endOfLine(text, end);
    }
    return lines[index] as Line;
  };
}

function endOfLine(text: string, from: number): number {
  const found = /\r\n|\r|\n/g;
  found.lastIndex = from;
  return found.exec(text) === null ? text.length + 1 : found.lastIndex;
}

const PLACEHOLDERS = [
  /\blorem ipsum\b/i,
  /\bTB[DAC]\b/,
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
  finds: "Text that stands in for text: lorem ipsum, TBD, “to be determined”, “coming soon”, `<insert …>`, changeme.",
  recommendation: "Put in what is meant, or take the place out until it is known.",
  *find({ lines, value }) {
    if (value !== undefined) {
      yield* placeholdersInJson(value.json);
      return;
    }
    for (const line of lines) {
      const found = firstMatch(line.text, PLACEHOLDERS);
      if (found === undefined) continue;
      yield {
        key: `${line.place} ${line.text.trim().slice(0, 200)}`,
        part: line.text,
        description: `Line ${line.number} still holds the placeholder ${quoted(found)}.`,
      };
    }
  },
};

function* placeholdersInJson(json: unknown): Generator<Finding> {
  for (const { path, value } of walkJson(json)) {
    const found = typeof value === "string" ? firstMatch(value.slice(0, 4_000), PLACEHOLDERS) : undefined;
    if (found === undefined) continue;
    yield {
      key: `${path} ${found}`,
      part: String(value),
      description: `${path} still holds the placeholder ${quoted(found)}.`,
    };
  }
}

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
  finds: "Marks that a version control system left where two changes met.",
  recommendation: "Decide between the two versions, and remove the marks.",
  *find({ lines }) {
    let ours: Line | undefined;
    let between: string[] = [];
    for (const line of lines) {
      if (/^<{7}(?: |$)/.test(line.text)) {
        ours = line;
        between = [];
      } else if (ours !== undefined && /^>{7}(?: |$)/.test(line.text)) {
        yield conflict(ours, between);
        ours = undefined;
      } else if (ours !== undefined && between.length < 100) between.push(line.text);
    }
    if (ours !== undefined) yield conflict(ours, between);
  },
};

function conflict({ number, place, text }: Line, between: readonly string[]): Finding {
  const part = between.join("\n");
  return {
    key: `${place} ${
      between
        .find((line) => line.trim() !== "")
        ?.trim()
        .slice(0, 200) ?? text
    }`,
    part,
    description: `A conflict of two versions is not resolved at line ${number}.`,
  };
}

export const MARK_RULES: readonly Rule[] = [todoMark, placeholderText, conflictMarker];
