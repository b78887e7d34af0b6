import { isObject, own } from "../../protocol/own.ts";
import { parsedJson } from "../json/check-json.ts";
import { endOfObject } from "../json/json-places.ts";
import { isTooDeep, type Members } from "./request.ts";

/** The ways to find an answer in a text, the most direct first. */
export const DECODINGS = ["strict", "double_encoded", "fenced", "embedded", "joined"] as const;
export type Decoding = (typeof DECODINGS)[number];

export interface Decoded {
  readonly value: Members;
  readonly how: Decoding;
}

/** The object in a text, by the first decoding that works. */
export function decodeAnswer(text: string): Decoded | undefined {
  // `trim` also removes the byte-order mark.
  const bare = text.trim();
  const direct = parsed(bare);
  if (isObject(direct)) return { value: direct, how: "strict" };
  if (typeof direct === "string") {
    const inner = parsed(direct);
    if (isObject(inner)) return { value: inner, how: "double_encoded" };
  }
  const fenced = lastFenced(bare);
  if (fenced !== undefined) return { value: fenced, how: "fenced" };
  const embedded = lastEmbedded(bare);
  return embedded === undefined ? undefined : { value: embedded, how: "embedded" };
}

function parsed(text: string): unknown {
  // Deeper texts are not serious answers, and could not be written out again.
  return isTooDeep(text) ? undefined : parsedJson(text);
}

function isResponseLike(value: unknown): value is Members {
  if (!isObject(value) || !Object.hasOwn(value, "protocol_version")) return false;
  const status = own(value, "status");
  return status === "success" || status === "error";
}

/** The body of the last Markdown fence that holds an answer: of fences on lines of their own, else of any. */
function lastFenced(text: string): Members | undefined {
  return lastAnswerIn(fencedLines(text)) ?? lastAnswerIn(fencedAnywhere(text));
}

function lastAnswerIn(bodies: Iterable<string>): Members | undefined {
  let found: Members | undefined;
  for (const body of bodies) {
    const bare = body.trim();
    // Most texts that are not answers are recognised by their ends; parsing takes far longer.
    const value = bare.startsWith("{") && bare.endsWith("}") ? parsed(body) : undefined;
    if (isResponseLike(value)) found = value;
  }
  return found;
}

/** Only LF begins a line. A mark is matched as a whole or not at all, since a long one would be tried at every length. */
const FENCE = /(?<![^\n]) {0,3}(`{3,}(?!`)|~{3,}(?!~))[^`\n]*(?![^\n])/g;

/** Bodies of fences on lines of their own. JSON has no raw line breaks in its strings, so a fence within the answer does not end it. */
function* fencedLines(text: string): Generator<string> {
  let open: { readonly mark: string; readonly body: number } | undefined;
  for (const match of text.matchAll(FENCE)) {
    const mark = match[1] ?? "";
    const end = match.index + match[0].length;
    if (open === undefined) open = { mark, body: end };
    else if (mark.startsWith(open.mark) && match[0].trim() === mark) {
      yield text.slice(open.body, match.index);
      open = undefined;
    }
  }
}

/** Bodies of fences that may end directly behind the answer. */
function* fencedAnywhere(text: string): Generator<string> {
  const parts = text.split("```");
  // Every second part is between two fences; a fence without an end does not count.
  for (let i = 1; i < parts.length - 1; i += 2) {
    const part = parts[i] ?? "";
    yield part.slice(part.indexOf("\n") + 1);
  }
}

/**
 * An opening brace without an end sends the search to the end of the text, so the number of such searches is limited: a long text may be
 * searched a few times only.
 */
function searchBudget(length: number): number {
  return Math.min(length * 64, length * 4 + (1 << 24));
}

/** The last whole object among other words that is an answer. Objects inside another one do not count. */
function lastEmbedded(text: string): Members | undefined {
  let found: Members | undefined;
  let left = searchBudget(text.length);
  for (let start = text.indexOf("{"); start >= 0 && left > 0; ) {
    const end = endOfObject(text, start);
    left -= (end ?? text.length) - start;
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    if (isResponseLike(value)) found = value;
    start = text.indexOf("{", isObject(value) && end !== undefined ? end : start + 1);
  }
  return found;
}
