import { compareUtf8, printString } from "../../json/print-json.ts";
import type { TapeRecord } from "../tape.ts";
import type { Divergence } from "./compare-records.ts";

/** What a run has left behind. Only the last word on each path is kept. */
export class Outcome {
  /** By path: the hash of what was written last, or null when the last word was to delete it. Both printed, which copies them. */
  readonly #files = new Map<string, string | null>();
  #exitCode: bigint | null = null;
  #llmCalls = 0;

  add({ kind }: TapeRecord): void {
    if (kind.kind === "file_write") this.#files.set(printString(kind.path), printString(kind.content_hash));
    else if (kind.kind === "file_delete") this.#files.set(printString(kind.path), null);
    else if (kind.kind === "process_spawn") this.#exitCode = kind.exit_code;
    else if (kind.kind === "llm_call") this.#llmCalls++;
  }

  static compare(recorded: Outcome, replay: Outcome): Divergence[] {
    const paths = new Set([...recorded.#files.keys(), ...replay.#files.keys()]);
    const files = [...paths].sort(compareUtf8).map((path) => ({
      category: "outcome_fs_diff",
      was: recorded.#file(path),
      is: replay.#file(path),
    }));
    const counts = [
      { category: "outcome_exit_code", was: recorded.#exit(), is: replay.#exit() },
      { category: "outcome_llm_call_count", was: String(recorded.#llmCalls), is: String(replay.#llmCalls) },
    ];
    return [...files, ...counts]
      .filter(({ was, is }) => was !== is)
      .map(({ category, was, is }) => ({ seq: null, category, recorded: was, replay: is }));
  }

  #file(path: string): string {
    const hash = this.#files.get(path);
    const state = hash === undefined ? "untouched" : hash === null ? "deleted" : `written as ${hash}`;
    return `${path} ${state}`;
  }

  #exit(): string {
    return this.#exitCode === null ? "no subprocess" : String(this.#exitCode);
  }
}
