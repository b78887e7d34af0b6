import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { compareUtf8 } from "../../../formats/json/print-json.ts";
import { FileError } from "../../../formats/text/file-error.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../output/io.ts";
import { printable } from "../../output/printable.ts";
import { sidecarOf } from "./tape-paths.ts";

const TAPE = ".tape";
const SIDECAR = sidecarOf("");

export interface FoundFiles {
  readonly paths: readonly string[];
  /** Whether they were looked for; one that was named is taken whatever its name is, also when it is not there. */
  readonly many: boolean;
}

export function sidecarFiles(path: string): Promise<FoundFiles> {
  return filesAt(path, SIDECAR);
}

export function tapeFiles(path: string): Promise<FoundFiles> {
  return filesAt(path, TAPE);
}

/** The tape that a sidecar stands beside; one under another name stands for itself. */
export function tapeBeside(sidecar: string): string {
  return sidecar.endsWith(SIDECAR) ? sidecar.slice(0, -SIDECAR.length) : sidecar;
}

async function filesAt(path: string, suffix: string): Promise<FoundFiles> {
  if (!(await isDirectory(path))) return { paths: [path], many: false };
  const paths: string[] = [];
  for await (const found of below(path, suffix)) paths.push(found);
  if (paths.length === 0) throw new AppError("unusable_input", { problem: `there is no *${suffix} below ${path}` });
  return { paths: paths.sort(compareUtf8), many: true };
}

/** Directories that are hidden or hold packages are left out, and links to directories are not followed: they may lead back here. */
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
    const problem = `${directory} cannot be read: ${(error as Error).message}`;
    throw new AppError("unusable_input", { problem }, { cause: error });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Whoever reads it says why that fails.
    return false;
  }
}

/** Files that were left out because they cannot be loaded, with why. */
export type Skipped = readonly FileError[];

/**
 * Loads one file after the other. The first that cannot be loaded ends it, unless broken ones are to be skipped: those are named as
 * complaints and handed back.
 */
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

/** As results list them. */
export function skippedJson(skipped: Skipped) {
  return skipped.map(({ code, path, place }) => ({ code, path, ...place }));
}
