import { isMembers, type Members, own } from "./field-names.ts";

/** How an answer was found in a text, the most direct way first. */
export const DECODINGS = ["strict", "double_encoded", "fenced", "embedded", "joined"] as const;
export type Decoding = (typeof DECODINGS)[number];

export interface Decoded {
  readonly value: Members;
  readonly how: Decoding;
}

/** The object that a text holds, by the first way that works. */
export function decodeAnswer(text: string): Decoded | undefined {
  const bare = text.replace(/^[\s\uFEFF]+|[\s\uFEFF]+$/g, "");
  const direct = parsed(bare);
  if (isMembers(direct)) return { value: direct, how: "strict" };
  if (typeof direct === "string") {
    const inner = parsed(direct);
    if (isMembers(inner)) return { value: inner, how: "double_encoded" };
  }
  const fenced = lastFenced(bare);
  if (fenced !== undefined) return { value: fenced, how: "fenced" };
  const embedded = lastEmbedded(bare);
  return embedded === undefined ? undefined : { value: embedded, how: "embedded" };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isResponseLike(value: unknown): value is Members {
  if (!isMembers(value) || !Object.hasOwn(value, "protocol_version")) return false;
  const status = own(value, "status");
  return status === "success" || status === "error";
}

/** The body of the last Markdown fence that holds an answer. */
function lastFenced(text: string): Members | undefined {
  let found: Members | undefined;
  const parts = text.split("```");
  // Every second part stands between two fences; one that is never closed is none.
  for (let i = 1; i < parts.length - 1; i += 2) {
    const part = parts[i] ?? "";
    const body = parsed(part.slice(part.indexOf("\n") + 1));
    if (isResponseLike(body)) found = body;
  }
  return found;
}

/** So many characters may be looked at for each of the text: an opening brace that is never closed sends the search to its end. */
const LOOKS_MAX = 64;

/** The last whole object among other words that is an answer. What is inside another object does not count. */
function lastEmbedded(text: string): Members | undefined {
  let found: Members | undefined;
  let looks = text.length * LOOKS_MAX;
  for (let start = text.indexOf("{"); start >= 0 && looks > 0; ) {
    const end = closingBrace(text, start);
    looks -= (end ?? text.length) - start;
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    if (isResponseLike(value)) found = value;
    start = text.indexOf("{", isMembers(value) && end !== undefined ? end : start + 1);
  }
  return found;
}

/** Where the object that begins here ends; braces in strings do not count. */
function closingBrace(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (inString) {
      if (unit === 0x5c) i++;
      else if (unit === 0x22) inString = false;
    } else if (unit === 0x22) inString = true;
    else if (unit === 0x7b) depth++;
    else if (unit === 0x7d) {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}
