import { repeatedNames } from "./json-names.ts";
import { type JsonType, jsonTypeOf, walkJson } from "./json-walk.ts";
import { quoted, type Rule } from "./rule.ts";

const unreadableJson: Rule = {
  id: "unreadable-json",
  aspect: "structure",
  kinds: ["json", "data"],
  finds: "JSON, or a line of JSON lines, that cannot be read.",
  recommendation: "Correct the syntax; everything else waits for that.",
  *find({ kind, value, mediaType, text, lines }) {
    if (kind === "json" && value === undefined) {
      yield { key: "document", part: text, description: "The document is not valid JSON." };
    }
    if (!/ndjson|jsonl/.test(mediaType)) return;
    for (const { number, text: line } of lines) {
      if (line.trim() === "" || isJson(line)) continue;
      yield { key: line.slice(0, 200), part: line, description: `Line ${number} is not valid JSON: ${quoted(line)}.` };
    }
  },
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const duplicateName: Rule = {
  id: "duplicate-name",
  aspect: "consistency",
  kinds: ["json", "data"],
  finds:
    "The same name twice in an object, or in a table of TOML or at one level of YAML; readers take one of the two.",
  recommendation: "Keep one, or rename the other.",
  *find(document) {
    for (const { name, where, text } of repeatedNames(document)) {
      yield {
        key: `${where} ${name}`,
        part: text,
        description: `The name ${quoted(name)} appears more than once in ${where}.`,
      };
    }
  },
};

const emptyValue: Rule = {
  id: "empty-value",
  aspect: "completeness",
  kinds: ["json"],
  finds: "Values that say nothing: null, empty texts, lists and objects; one remark for all items of a list.",
  recommendation: "Give the value, or leave the name out if there is none.",
  *find({ value }) {
    if (value === undefined) return;
    const found = new Map<string, { what: Set<string>; times: number }>();
    for (const { path, value: one, name } of walkJson(value.json)) {
      const what = name === undefined ? undefined : emptiness(one);
      if (what === undefined) continue;
      const seen = found.get(path) ?? { what: new Set(), times: 0 };
      seen.what.add(what);
      seen.times++;
      found.set(path, seen);
    }
    for (const [path, { what, times }] of found) {
      const whats = [...what].sort().join(" or ");
      yield {
        key: path,
        part: `${whats} ${times}`,
        description: times === 1 ? `${path} is ${whats}.` : `${path} is ${whats} in ${times} places.`,
      };
    }
  },
};

function emptiness(value: unknown): string | undefined {
  if (value === null) return "null";
  if (value === "") return "an empty text";
  if (typeof value !== "object") return undefined;
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : undefined;
  return Object.keys(value).length === 0 ? "an empty object" : undefined;
}

const mixedTypes: Rule = {
  id: "mixed-types",
  aspect: "consistency",
  kinds: ["json"],
  finds: "Lists whose items, or the same member of whose items, are of different types.",
  recommendation: "Use one type, or separate names for the separate things.",
  *find({ value }) {
    if (value === undefined) return;
    const types = new Map<string, Set<JsonType>>();
    for (const { path, value: one } of walkJson(value.json)) {
      if (!path.includes("[*]") || one === null) continue;
      types.set(path, (types.get(path) ?? new Set<JsonType>()).add(jsonTypeOf(one)));
    }
    for (const [path, found] of types) {
      if (found.size < 2) continue;
      const names = [...found].sort().join(", ");
      yield { key: path, part: names, description: `${path} is of different types: ${names}.` };
    }
  },
};

const unevenItems: Rule = {
  id: "uneven-items",
  aspect: "consistency",
  kinds: ["json"],
  finds: "Members that at least three quarters of the items of a list have, and the rest lack.",
  recommendation: "Add the member where it is missing, or say that it is optional.",
  *find({ value }) {
    if (value === undefined) return;
    for (const { path, value: list } of walkJson(value.json)) {
      const items = Array.isArray(list) ? list.filter((item) => jsonTypeOf(item) === "object") : [];
      if (items.length < 4) continue;
      const times = new Map<string, number>();
      for (const item of items) for (const name of Object.keys(item)) times.set(name, (times.get(name) ?? 0) + 1);
      for (const [name, count] of times) {
        if (count === items.length || count < items.length * 0.75) continue;
        const missing = items.length - count;
        yield {
          key: `${path} ${name}`,
          part: `${missing} of ${items.length}`,
          description: `${missing} of the ${items.length} items of ${path} have no ${quoted(name)}.`,
        };
      }
    }
  },
};

const tabIndent: Rule = {
  id: "tab-in-yaml",
  aspect: "structure",
  kinds: ["data"],
  finds: "YAML that is indented with tabs, which readers refuse.",
  recommendation: "Indent with blanks.",
  *find({ mediaType, lines }) {
    if (!mediaType.includes("yaml")) return;
    for (const { number, text } of lines) {
      if (!/^ *\t+\s*[^\s#]/.test(text)) continue;
      yield { key: text.trim().slice(0, 200), part: text, description: `Line ${number} is indented with a tab.` };
    }
  },
};

export const JSON_RULES: readonly Rule[] = [
  unreadableJson,
  duplicateName,
  emptyValue,
  mixedTypes,
  unevenItems,
  tabIndent,
];
