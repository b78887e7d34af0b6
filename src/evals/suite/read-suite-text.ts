import { isUtf8 } from "node:buffer";
import { exceedsLimits } from "../../formats/json/check-json.ts";
import { type Json, JsonObject, readJson, Unreadable } from "../../formats/json/exact-json.ts";
import { placeAt, type TextPlace } from "../../formats/json/json-places.ts";
import type { ProblemList } from "./suite-problem.ts";
import { pointerTo } from "./validate-fields.ts";

export interface SuiteLimits {
  readonly maxBytes: number;
  readonly maxElements: number;
}

/** Ten thousand tasks of six kilobytes. */
const SUITE_LIMITS: SuiteLimits = { maxBytes: 67_108_864, maxElements: 2_000_000 };

/**
 * Suites that a server takes from others: ten thousand tasks of 25 values. They are read and checked in one go, which holds up all other
 * requests, so they are bounded by what that costs.
 */
export const SENT_SUITE_LIMITS: SuiteLimits = { maxBytes: 16_777_216, maxElements: 250_000 };

/** The nesting limit of requests, so that a suite from a file can be sent to a server too. */
const DEPTH_MAX = 64;

export type ReadText =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  /** No further checks are possible; `place` is where the text breaks. */
  | { readonly ok: false; readonly place?: TextPlace };

/** Bytes to a value, with what a plain parser would pass over: members with one name, text that cannot be stored. */
export function readSuiteText(bytes: Uint8Array, found: ProblemList, limits: SuiteLimits = SUITE_LIMITS): ReadText {
  const give = (code: "not_json" | "not_usable" | "too_large" | "too_deep", problem: string, fix: string): ReadText => {
    found.add(code, "", problem, fix);
    return { ok: false };
  };
  if (bytes.length > limits.maxBytes) {
    return give("too_large", `is larger than ${limits.maxBytes} bytes`, "Split it into several suites.");
  }
  if (!isUtf8(bytes)) return give("not_usable", "is not UTF-8", "Save the file as UTF-8.");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  if (text.startsWith("\ufeff")) {
    return give("not_json", "starts with a byte order mark", "Save the file as UTF-8 without a byte order mark.");
  }
  const excess = exceedsLimits(bytes, { maxDepth: DEPTH_MAX, maxElements: limits.maxElements });
  if (excess !== undefined) {
    const deep = excess.includes("nested");
    return give(deep ? "too_deep" : "too_large", excess, deep ? "Make it flatter." : "Split it into several suites.");
  }
  try {
    return { ok: true, text, value: plain(readJson(text), "", found) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const place = error.at === undefined ? {} : { place: placeAt(text, error.at) };
    found.add(
      "not_json",
      "",
      `is not JSON: ${error.message.replace(/ \(column \d+\)$/, "")}`,
      "Correct it there; JSON has no comments and no trailing commas.",
    );
    return { ok: false, ...place };
  }
}
function plain(json: Json, path: string, found: ProblemList): unknown {
  if (typeof json === "string") {
    if (json.includes("\0")) found.add("not_usable", path, "holds a NUL character", "Take the character out.");
    return json;
  }
  if (typeof json === "bigint") {
    const number = Number(json);
    if (!Number.isSafeInteger(number)) {
      const fix = "Write it as a text, or expect a text, if every digit counts.";
      found.add("inexact_number", path, "is an integer that not every program can hold exactly", fix);
    }
    return number;
  }
  if (Array.isArray(json)) return json.map((item: Json, i) => plain(item, `${path}/${i}`, found));
  return json instanceof JsonObject ? plainObject(json, path, found) : json;
}

function plainObject({ members }: JsonObject, path: string, found: ProblemList): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [name, member] of members) {
    const at = pointerTo(path, name);
    if (name === "__proto__" || name.includes("\0")) {
      found.add("not_usable", path, "has a member with a name that cannot be kept", "Give the member another name.");
      continue;
    }
    if (Object.hasOwn(object, name)) {
      found.add("repeated_member", at, "is there more than once", "Keep one of them; others are lost without a trace.");
    }
    object[name] = plain(member, at, found);
  }
  return object;
}
