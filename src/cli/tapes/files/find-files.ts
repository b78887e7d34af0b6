import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { compareUtf8 } from "../../../formats/json/print-json.ts";
import { FileError } from "../../../formats/text/file-error.ts";
import { unusableInput } from "../../../protocol/errors.ts";
import type { Io } from "../../output/io.ts";
import { printable } from "../../output/printable.ts";
import { sidecarOf } from "./tape-files.ts";

const TAPE = ".tape";
const SIDECAR = sidecarOf("");

interface FoundFiles {
  readonly paths: readonly string[];
  /** Whether they were found in a directory. A named file is taken whatever its name is, also when it does not exist. */
  readonly many: boolean;
}

export function sidecarFiles(path: string): Promise<FoundFiles> {
  return filesAt(path, SIDECAR);
}

export function tapeFiles(path: string): Promise<FoundFiles> {
  return filesAt(path, TAPE);
}

/** The path of the tape of a sidecar; the sidecar's own path where its name does not end like that of a sidecar. */
export function tapeOf(sidecar: string): string {
  return sidecar.endsWith(SIDECAR) ? sidecar.slice(0, -SIDECAR.length) : sidecar;
}

async function filesAt(path: string, suffix: string): Promise<FoundFiles> {
  if (!(await isDirectory(path))) return { paths: [path], many: false };
  const paths: string[] = [];
  for await (const found of below(path, suffix)) paths.push(found);
  if (paths.length === 0) throw unusableInput(`there is no *${suffix} below ${path}`);
  return { paths: paths.sort(compareUtf8), many: true };
}

/** Skips hidden directories and those of packages, and does not follow links to directories, which may form a cycle. */
async function* below(directory: string, suffix: string): AsyncGenerator<string> {
  for (const entry of await entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (!entry.name.startsWith(".") && entry.name !== "node_modules") yield* below(path, suffix);
    } else if (entry.name.endsWith(suffix) && !(await isDirectory(path))) {
      yield path;
    }
  }
}

async function entriesOf(directory: string) {
  try {
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    throw unusableInput(`${directory} cannot be read: ${(error as Error).message}`, error);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Reading it reports the error.
    return false;
  }
}

type Skipped = readonly FileError[];

/** Loads one file after the other. Throws for the first that does not load or, with `skipBroken`, prints and returns the errors. */
export async function loadEach(
  paths: readonly string[],
  { skipBroken, io }: { readonly skipBroken: boolean; readonly io: Io },
  load: (path: string) => Promise<void>,
): Promise<Skipped> {
  const skipped: FileError[] = [];
  for (const path of paths) {
    try {
      await load(path);
    } catch (error) {
      if (!skipBroken || !(error instanceof FileError)) throw error;
      io.err(`skipped: ${printable(error.message)}`);
      skipped.push(error);
    }
  }
  return skipped;
}

export function skippedJson(skipped: Skipped) {
  return skipped.map(({ code, path, place }) => ({ code, path, ...place }));
}
