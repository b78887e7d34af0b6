import { randomBytes } from "node:crypto";
import { createWriteStream, type Stats } from "node:fs";
import { chmod, mkdir, realpath, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { withDraft } from "./with-draft.ts";
import { writing } from "./writing.ts";

export type Texts = Iterable<string> | AsyncIterable<string>;

/** Writes a file in place of what was there; see `replaceFile`. */
export function writeOutput(path: string, content: Texts): Promise<void> {
  return replaceFile(path, (file) => pipeline(Readable.from(inPieces(content)), file));
}

/**
 * Has a file written in place of what was there, when it is whole: a failure leaves what was there before. What a link leads to is
 * replaced and not the link, and whoever could not read the file cannot read the new one. Missing directories are made. Errors of
 * what is written pass as they are.
 */
export function replaceFile(path: string, write: (file: Writable) => Promise<void>): Promise<void> {
  return writing(path, async () => {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && isSpecial(found)) return write(createWriteStream(path));
    await mkdir(dirname(path), { recursive: true });
    const target = found === undefined ? path : await realpath(path);
    // Numbers of processes come again, and one that was killed leaves its draft behind.
    const draft = `${target}.${randomBytes(6).toString("hex")}.tmp`;
    await withDraft(draft, async () => {
      await write(createWriteStream(draft, { flags: "wx", flush: true, ...(found && { mode: OWNER_ONLY }) }));
      if (found) await chmod(draft, found.mode & PERMISSIONS);
      await rename(draft, target);
    });
  });
}

const OWNER_ONLY = 0o600;
const PERMISSIONS = 0o777;

/** Pipes and devices are written to: another file in place of `/dev/null` would be a disaster for all others. */
function isSpecial(found: Stats): boolean {
  return !found.isFile() && !found.isDirectory();
}

const PIECE_CHARACTERS = 1 << 16;

/** A write for every line would be most of the work. */
export async function* inPieces(texts: Texts): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
