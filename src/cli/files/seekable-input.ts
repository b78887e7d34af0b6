import { isUtf8 } from "node:buffer";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { byteLines } from "../../formats/text/byte-lines.ts";
import { readWhole } from "./read-file.ts";

export interface SeekableInput {
  readonly path: string;
  remove(): void;
}

/** A file that can be read more than once: the one named or, for `-`, a copy of standard input until it is removed. */
export async function seekable(file: string): Promise<SeekableInput> {
  if (file !== "-") return { path: file, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "assay-input-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const path = join(folder, "input");
  try {
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    remove();
    throw error;
  }
  return { path, remove };
}

/** Its lines; one that is no UTF-8 is given as what it is not, so that nothing is made up in its place. */
export async function* textLines(path: string): AsyncGenerator<string> {
  for await (const line of byteLines(readWhole(path))) {
    yield isUtf8(line) ? Buffer.from(line).toString("utf8") : NOT_UTF8;
  }
}

const NOT_UTF8 = "not UTF-8";
