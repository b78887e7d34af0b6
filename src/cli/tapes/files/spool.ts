import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileError } from "../../../formats/text/file-error.ts";

/** A longer result goes to disk. */
const IN_MEMORY_CHARACTERS = 16 << 20;
const PIECE_BYTES = 1 << 20;

/**
 * Keeps a result until the whole input has been read: when the last line of a file is not valid, no output may have been written. A short
 * result stays in memory. A long one goes to a file that is unlinked after it was opened, so that other processes cannot read it and a
 * killed process leaves nothing behind.
 */
export class Spool {
  #pieces: string[] = [];
  #characters = 0;
  #file: number | undefined;
  readonly #inMemory: number;

  constructor(inMemory = IN_MEMORY_CHARACTERS) {
    this.#inMemory = inMemory;
  }

  /** Synchronous, because readers of files pass on their lines while they read. */
  add(text: string): void {
    this.#pieces.push(text);
    this.#characters += text.length;
    if (this.#characters > this.#inMemory) this.#spill();
  }

  #spill(): void {
    try {
      this.#file ??= openUnnamed();
      const bytes = Buffer.from(this.#pieces.join(""), "utf8");
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      const path = tmpdir();
      throw new FileError("write_failed", path, `write ${path}: ${(error as Error).message}`);
    }
    this.#pieces = [];
    this.#characters = 0;
  }

  /** The whole text, in pieces of any size. */
  *texts(): Generator<string> {
    if (this.#file === undefined) {
      yield* this.#pieces;
      return;
    }
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const bytes = new Uint8Array(PIECE_BYTES);
    for (let at = 0; ; ) {
      const read = readSync(this.#file, bytes, 0, bytes.length, at);
      if (read === 0) break;
      at += read;
      yield decoder.decode(bytes.subarray(0, read), { stream: true });
    }
    yield* this.#pieces;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#pieces = [];
  }
}

function openUnnamed(): number {
  const folder = mkdtempSync(join(tmpdir(), "assay-"));
  try {
    return openSync(join(folder, "spool"), "wx+", 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function withSpool<T>(use: (spool: Spool) => Promise<T>): Promise<T> {
  const spool = new Spool();
  try {
    return await use(spool);
  } finally {
    spool.close();
  }
}
