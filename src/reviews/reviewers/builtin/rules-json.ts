import { parsedJson, repeatedNames } from "../../../formats/json/check-json.ts";
import type { Document } from "./document.ts";
import { lineName, quoted, type Rule } from "./rule.ts";

/** Whole documents, and by them only once, however many rules ask. */
const readable = new WeakMap<Document, boolean>();

function isReadable(document: Document): boolean {
  const known = readable.get(document) ?? isJson(document.text);
  readable.set(document, known);
  return known;
}

function isJson(text: string): boolean {
  return parsedJson(text) !== undefined;
}

const unreadableJson: Rule = {
  id: "unreadable-json",
  aspect: "structure",
  kinds: ["json", "data"],
  readsLines: false,
  finds: "JSON, or a line of JSON lines, that cannot be read.",
  recommendation: "Correct the syntax; everything else waits for that.",
  *find(document) {
    const { kind, mediaType, text, file } = document;
    if (kind === "json" && !isReadable(document)) {
      yield { key: "document", part: text, description: `${file ?? "The document"} is not valid JSON.` };
    }
    if (!/ndjson|jsonl/.test(mediaType)) return;
    for (const [i, line] of text.split("\n").entries()) {
      if (line.trim() === "" || isJson(line)) continue;
      yield {
        key: line.slice(0, 200),
        part: line,
        description: `${lineName({ number: i + 1 }, document)} is not valid JSON: ${quoted(line)}.`,
      };
    }
  },
};

const duplicateName: Rule = {
  id: "duplicate-name",
  aspect: "consistency",
  kinds: ["json"],
  readsLines: false,
  finds: "The same name twice in an object; readers take one of the two.",
  recommendation: "Keep one, or rename the other.",
  *find(document) {
    const { text } = document;
    if (!isReadable(document)) return;
    let number = 1;
    let from = 0;
    for (const { name, at } of repeatedNames(text)) {
      for (let end = text.indexOf("\n", from); end >= 0 && end < at; end = text.indexOf("\n", from)) {
        number++;
        from = end + 1;
      }
      yield {
        key: ` ${name}`,
        part: name,
        description: `${lineName({ number }, document)} has the name ${quoted(name)}, which its object has already.`,
      };
    }
  },
};

export const JSON_RULES: readonly Rule[] = [unreadableJson, duplicateName];
