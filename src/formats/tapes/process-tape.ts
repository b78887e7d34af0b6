import { anyMap, type Codec, i32, list, object, optional, text, u64, type Value, withDefault } from "../json/codec.ts";
import { type Json, readJson, Unreadable } from "../json/exact-json.ts";
import { indentJson } from "../json/indent-json.ts";
import type { FreeMap } from "../json/print-json.ts";
import { FileError } from "../text/file-error.ts";
import type { Bytes } from "../text/load-lines.ts";
import { trimSpace } from "../text/trim.ts";

/** The file does not name it; its page counts by it. */
export const PROCESS_TAPE_VERSION = 1;

/** Reserved for a later version: ignoring its content would replay something else than was recorded. */
const reserved: Codec<FreeMap> = {
  ...anyMap,
  read(value) {
    const map = anyMap.read(value);
    if (map.size > 0) throw new Unreadable("it is reserved and must be empty");
    return map;
  },
};

/** Names and order are those of the file. */
const ENTRY = {
  program: text,
  args: withDefault(list(text), []),
  cwd: optional(text),
  env: withDefault(reserved, new Map()),
  stdout: withDefault(text, ""),
  stderr: withDefault(text, ""),
  exit_code: withDefault(i32, 0n),
  duration_ms: withDefault(u64, 0n),
};
/** A subprocess as a replay gets it, in place of running it. */
export type ProcessEntry = Value<typeof ENTRY>;

const entry = object(ENTRY);

/** The problem of an entry; entries are counted from 1. */
export interface EntryProblem {
  readonly entry: number;
  readonly problem: string;
}

/** Every entry that can be read, and what is wrong with each of the others. Throws `Unreadable` when the text is no JSON list. */
export function checkProcessTape(content: string): { entries: ProcessEntry[]; problems: EntryProblem[] } {
  const entries: ProcessEntry[] = [];
  const problems: EntryProblem[] = [];
  if (trimSpace(content) === "") return { entries, problems };
  const values = readJson(content);
  if (!Array.isArray(values)) throw new Unreadable("a list of subprocesses is expected");
  for (const [i, value] of (values as readonly Json[]).entries()) {
    try {
      entries.push(entry.read(value));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      problems.push({ entry: i + 1, problem: error.message });
    }
  }
  return { entries, problems };
}

/** Throws a `FileError` that names every entry that is wrong. */
export async function loadProcessTape(path: string, bytes: Bytes): Promise<ProcessEntry[]> {
  const content = await contentOf(path, bytes);
  const { entries, problems } = checked(path, content);
  const [first] = problems;
  if (first === undefined) return entries;
  const list = problems.map(({ entry, problem }) => `entry ${entry}: ${problem}`).join("; ");
  throw new FileError("process_tape_invalid", path, `load subprocess tape ${path}: ${list}`, { entry: first.entry });
}

async function contentOf(path: string, bytes: Bytes): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let content = "";
  try {
    for await (const piece of bytes) content += decoder.decode(piece, { stream: true });
    return content + decoder.decode();
  } catch (error) {
    // A decoder throws a TypeError, which does not name the file.
    const reason = error instanceof TypeError ? "stream did not contain valid UTF-8" : (error as Error).message;
    throw new FileError("process_tape_read_failed", path, `load subprocess tape ${path}: read ${path}: ${reason}`);
  }
}

function checked(path: string, content: string): ReturnType<typeof checkProcessTape> {
  try {
    return checkProcessTape(content);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const before = content.slice(0, error.at ?? 0).split("\n");
    const [line, column] = [before.length, (before.at(-1)?.length ?? 0) + 1];
    const reason = error.message.replace(/ \(column \d+\)$/, "");
    const message = `load subprocess tape ${path}: parse ${path} at line ${line}, column ${column}: ${reason}`;
    throw new FileError("process_tape_parse", path, message, { line });
  }
}

/** The whole file, which has no final LF. */
export function printProcessTape(entries: readonly ProcessEntry[]): string {
  return indentJson(list(entry).print(entries));
}
