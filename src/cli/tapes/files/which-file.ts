import { type Json, JsonObject, readJson } from "../../../formats/json/exact-json.ts";
import { trimSpace } from "../../../formats/text/trim.ts";

export type FileFormat = "tape" | "sidecar";

/** A file that is broken before anything tells what it is is judged by its name. */
const SIDECAR_NAME = /\.jsonl$/i;

/**
 * Whether the beginning of a file is that of a tape or of a sidecar, so that what is wrong with it is said in the right words: the
 * first line decides that only one of them could have.
 */
export function formatOf(beginning: string, name: string): FileFormat {
  for (const line of beginning.split("\n")) {
    const format = formatOfLine(trimSpace(line.replace(/^\ufeff/, "")));
    if (format !== undefined) return format;
  }
  return SIDECAR_NAME.test(name) ? "sidecar" : "tape";
}

function formatOfLine(line: string): FileFormat | undefined {
  // Tapes have no comments.
  if (line.startsWith("#")) return "sidecar";
  const value = parsed(line);
  return value === undefined ? formatOfWords(line) : formatOfValue(value);
}

function parsed(line: string): Json | undefined {
  try {
    return readJson(line);
  } catch {
    return undefined;
  }
}

function formatOfValue(value: Json): FileFormat | undefined {
  if (!(value instanceof JsonObject)) return undefined;
  const members = new Map(value.members);
  if (members.get("type") === "annotation") return "sidecar";
  if (members.get("type") === "record") return "tape";
  return onlyOne(members.has("schema_version"), members.has("version"));
}

/** Of a line that is no JSON. */
function formatOfWords(line: string): FileFormat | undefined {
  return onlyOne(
    /"(?:schema_version|annotation|event_id|tape_path|tape_content_hash)"/.test(line),
    /"(?:version|record|seq|virtual_time_ms|monotonic_ms|argv)"/.test(line),
  );
}

function onlyOne(sidecar: boolean, tape: boolean): FileFormat | undefined {
  if (sidecar === tape) return undefined;
  return sidecar ? "sidecar" : "tape";
}

export interface Peeked {
  readonly format: FileFormat;
  /** All of the file, also when it can be read only once. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Looks at the first piece of a file. What cannot be read is not said here: the reader of the format has its own words. */
export async function peek(path: string, bytes: AsyncIterable<Uint8Array>): Promise<Peeked> {
  const pieces = bytes[Symbol.asyncIterator]();
  try {
    const first = await pieces.next();
    const beginning = first.done ? "" : new TextDecoder("utf-8", { ignoreBOM: true }).decode(first.value);
    return { format: formatOf(beginning, path), bytes: joined(first, pieces) };
  } catch (error) {
    return { format: formatOf("", path), bytes: failing(error) };
  }
}

async function* joined(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}

// biome-ignore lint/correctness/useYield: it fails instead, where the bytes would have been.
async function* failing(error: unknown): AsyncGenerator<Uint8Array> {
  throw error;
}
