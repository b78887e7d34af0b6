import type { Document } from "./document.ts";

export interface RepeatedName {
  readonly name: string;
  /** The object, table or level it is repeated in. */
  readonly where: string;
  readonly text: string;
}

export function repeatedNames(document: Document): RepeatedName[] {
  if (document.kind === "json") return inJson(document.text);
  if (document.mediaType.includes("toml")) return inToml(document);
  return document.mediaType.includes("yaml") ? inYaml(document) : [];
}

const FOUND_MAX = 1000;

/** Reading JSON drops all but the last of them, so the text is gone through. */
function inJson(text: string): RepeatedName[] {
  const found: RepeatedName[] = [];
  const open: { readonly path: string; readonly names: Set<string>; name: string; readonly isList: boolean }[] = [];
  for (let at = 0; at < text.length && found.length < FOUND_MAX; at++) {
    const char = text[at];
    const top = open.at(-1);
    if (char === "{" || char === "[") {
      const path = top === undefined ? "$" : top.isList ? `${top.path}[*]` : `${top.path}.${top.name}`;
      open.push({ path: path.slice(0, 300), names: new Set(), name: "", isList: char === "[" });
    } else if (char === "}" || char === "]") open.pop();
    else if (char === '"') {
      const end = endOfString(text, at);
      if (top !== undefined && !top.isList && isName(text, end)) {
        const name = unquoted(text.slice(at, end));
        top.name = name;
        if (top.names.has(name)) found.push({ name, where: top.path, text: `${top.path} ${name}` });
        top.names.add(name);
      }
      at = end - 1;
    }
  }
  return found;
}

/** The place after its closing quote. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function isName(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at] as string)) at++;
  return text[at] === ":";
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function inToml({ lines }: Document): RepeatedName[] {
  const found: RepeatedName[] = [];
  let where = "the document";
  let names = new Set<string>();
  const tables = new Set<string>();
  for (const { text } of lines) {
    const table = /^\s*\[([^[\]]{1,300})\]\s*(?:#.*)?$/.exec(text)?.[1]?.trim();
    if (table !== undefined) {
      if (tables.has(table)) found.push({ name: table, where: "the document", text });
      tables.add(table);
    }
    if (/^\s*\[/.test(text)) {
      where = `the table ${table ?? text.trim().slice(0, 100)}`;
      names = new Set();
      continue;
    }
    const name = /^\s*([\w."'-]{1,200})\s*=/.exec(text)?.[1];
    if (name === undefined) continue;
    if (names.has(name)) found.push({ name, where, text });
    names.add(name);
  }
  return found;
}

/** By indentation alone: names in flow style and in block texts are not looked at. */
function inYaml({ lines }: Document): RepeatedName[] {
  const found: RepeatedName[] = [];
  const levels: { readonly indent: number; readonly names: Set<string>; name: string }[] = [];
  let block: number | undefined;
  for (const { text } of lines) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    if (/^(?:---|\.\.\.)/.test(text)) {
      levels.length = 0;
      block = undefined;
      continue;
    }
    const indent = text.length - text.trimStart().length;
    if (block !== undefined && indent > block) continue;
    block = undefined;
    const [, dash = "", name, rest = ""] = /^\s*((?:- +)*)([\w."'/-]{1,200})\s*:(?:\s(.*)|$)/.exec(text) ?? [];
    // An item begins a mapping of its own, whatever the item before it has.
    while (levels.length > 0 && (levels.at(-1)?.indent ?? 0) >= (dash === "" && name ? indent + 1 : indent))
      levels.pop();
    if (name === undefined) continue;
    const at = indent + dash.length;
    let level = levels.at(-1);
    if (level === undefined || level.indent < at) {
      level = { indent: at, names: new Set(), name: "" };
      levels.push(level);
    }
    if (level.names.has(name)) {
      const where = levels
        .slice(0, -1)
        .map((one) => one.name)
        .join(".");
      found.push({ name, where: where === "" ? "the document" : where, text });
    }
    level.names.add(name);
    level.name = name;
    if (/^[|>]/.test(rest)) block = indent;
  }
  return found;
}
