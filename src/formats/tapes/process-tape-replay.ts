import { printString } from "../json/print-json.ts";
import { FileError } from "../text/file-error.ts";
import type { ProcessEntry } from "./process-tape.ts";

/** A subprocess that a replay is about to run. */
export interface ProcessCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** Answers the subprocesses of a replay from a subprocess tape, in its order. */
export class ProcessReplay {
  readonly #path: string;
  readonly #entries: readonly ProcessEntry[];
  #used = 0;
  #elapsedMs = 0n;

  constructor(path: string, entries: readonly ProcessEntry[]) {
    this.#path = path;
    this.#entries = entries;
  }

  /** How far the mock clock has been moved by what was used. */
  get elapsedMs(): bigint {
    return this.#elapsedMs;
  }

  get unused(): readonly ProcessEntry[] {
    return this.#entries.slice(this.#used);
  }

  /** Throws a `FileError`, and uses nothing, when the next entry is another call or there is none. */
  use(call: ProcessCall): ProcessEntry {
    const entry = this.#entries[this.#used];
    if (entry === undefined) throw this.#mismatch(`has no entry left for ${shown(call)}`);
    if (!isOf(entry, call)) {
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

/** An entry without a directory was recorded for any. */
function isOf(entry: ProcessEntry, { program, args, cwd }: ProcessCall): boolean {
  return entry.program === program && sameList(entry.args, args) && (entry.cwd === null || entry.cwd === cwd);
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

function shown({ program, args, cwd }: Pick<ProcessEntry, "program" | "args" | "cwd">): string {
  return [program, ...args].map(printString).join(" ") + (cwd === null ? "" : ` in ${printString(cwd)}`);
}
