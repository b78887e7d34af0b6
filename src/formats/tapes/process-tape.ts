import { anyMap, type Codec, i32, list, object, optional, text, u64, type Value, withDefault } from "../json/codec.ts";
import { type Json, readJson, Unreadable } from "../json/exact-json.ts";
import { type FreeMap, indentJson, printString } from "../json/print-json.ts";
import { FileError } from "../text/file-error.ts";
import { type Bytes, trimSpace } from "../text/lines.ts";

/** The file has no version member; docs/formats/process-tape.md names the version. */
export const PROCESS_TAPE_VERSION = 1;

/** Reserved for a later version. Content is refused: a replay that ignored it would differ from the recording. */
const reserved: Codec<FreeMap> = {
  ...anyMap,
  read(value) {
    const map = anyMap.read(value);
    if (map.size > 0) throw new Unreadable("it is reserved and must be empty");
    return map;
  },
};

/** Names and order of members are those of the file. */
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
/** A recorded subprocess: a replay takes its result instead of running it. */
export type ProcessEntry = Value<typeof ENTRY>;

const entry = object(ENTRY);

export interface EntryProblem {
  /** Counted from 1. */
  readonly entry: number;
  readonly problem: string;
}

/** Reads every entry, and lists the problems of invalid ones. Throws `Unreadable` when the text is not a JSON list. */
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

/** Throws a `FileError` that names every invalid entry. */
export async function loadProcessTape(path: string, bytes: Bytes): Promise<ProcessEntry[]> {
  const content = await contentOf(path, bytes);
  const { entries, problems } = parsed(path, content);
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

function parsed(path: string, content: string): ReturnType<typeof checkProcessTape> {
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

/** A subprocess that a replay is about to run. */
export interface ProcessCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** Returns the entries of a subprocess tape, in their order, for the calls of a replay. */
export class ProcessReplay {
  readonly #path: string;
  readonly #entries: readonly ProcessEntry[];
  #used = 0;
  #elapsedMs = 0n;

  constructor(path: string, entries: readonly ProcessEntry[]) {
    this.#path = path;
    this.#entries = entries;
  }

  /** The sum of the durations of the used entries, by which a mock clock advances. */
  get elapsedMs(): bigint {
    return this.#elapsedMs;
  }

  get unused(): readonly ProcessEntry[] {
    return this.#entries.slice(this.#used);
  }

  /** Returns the next entry. Throws a `FileError` and does not advance when the entry is for another call, or there is none. */
  use(call: ProcessCall): ProcessEntry {
    const entry = this.#entries[this.#used];
    if (entry === undefined) throw this.#mismatch(`has no entry left for ${shown(call)}`);
    if (!matchesCall(entry, call)) {
      throw this.#mismatch(`entry ${this.#used + 1} is ${shown(entry)}, and the replay runs ${shown(call)}`);
    }
    this.#used++;
    this.#elapsedMs += entry.duration_ms;
    return entry;
  }

  #mismatch(problem: string): FileError {
    const message = `subprocess tape ${this.#path}: ${problem}`;
    return new FileError("process_tape_mismatch", this.#path, message, { entry: this.#used + 1 });
  }
}

/** An entry without a directory matches a call in any. */
function matchesCall(entry: ProcessEntry, { program, args, cwd }: ProcessCall): boolean {
  const hasArgs = entry.args.length === args.length && entry.args.every((arg, i) => arg === args[i]);
  return entry.program === program && hasArgs && (entry.cwd === null || entry.cwd === cwd);
}

function shown({ program, args, cwd }: Pick<ProcessEntry, "program" | "args" | "cwd">): string {
  return [program, ...args].map(printString).join(" ") + (cwd === null ? "" : ` in ${printString(cwd)}`);
}
