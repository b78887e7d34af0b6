import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { paddingOf, type TarEntry, tarEnd, tarHeader } from "../../../formats/archives/tar.ts";
import { compareUtf8 } from "../../../formats/json/print-json.ts";
import {
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  type BundleFile,
  type BundleManifest,
  filesOf,
  MANIFEST_NAME,
  printManifest,
} from "../../../formats/tapes/bundle.ts";
import { ByteHash } from "../../../formats/tapes/digest.ts";
import { readSidecar } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import { isBodyHash } from "../../../formats/tapes/tape.ts";
import { readTapeContents } from "../../../formats/tapes/tape-facts.ts";
import { FileError } from "../../../formats/text/file-error.ts";
import { writeOutput } from "../../files/write-file.ts";
import { bodiesOf, fileBytes, type Progress, watchedBytes } from "./tape-files.ts";

export interface Gathered {
  readonly manifest: BundleManifest;
  /** The paths of the files in the manifest, in its order. */
  readonly paths: readonly string[];
  /** Files among the bodies that no record refers to. */
  readonly leftOut: readonly string[];
}

/** Reads a tape, its sidecar and its bodies for the manifest of a bundle. Throws `FileError` for a file that does not load. */
export async function gather(tape: string, sidecar: string | undefined, io: Progress): Promise<Gathered> {
  const read = await tapeFacts(tape, io);
  const annotations = sidecar === undefined ? null : await sidecarFacts(sidecar, io);
  const folder = bodiesOf(tape);
  const bodies: { hash: string; size: bigint }[] = [];
  const missing: string[] = [];
  for (const hash of [...read.referenced].sort(compareUtf8)) {
    const size = await bodySize(folder, hash);
    if (size === undefined) missing.push(hash);
    else bodies.push({ hash, size });
  }
  const manifest = {
    format: BUNDLE_FORMAT,
    version: BigInt(BUNDLE_VERSION),
    tape: { name: basename(tape), ...read.facts },
    annotations,
    bodies,
    missing,
  };
  const paths = [tape, ...(sidecar === undefined ? [] : [sidecar]), ...bodies.map(({ hash }) => join(folder, hash))];
  return { manifest, paths, leftOut: (await namesIn(folder)).filter((name) => !read.referenced.has(name)) };
}

async function tapeFacts(path: string, io: Progress) {
  const bytes = await ByteHash.start();
  const { referenced, digest, records } = await readTapeContents(path, bytes.through(watchedBytes(path, io)));
  return { referenced, facts: { digest, records, size: BigInt(bytes.size), hash: bytes.hex() } };
}

async function sidecarFacts(path: string, io: Progress) {
  const bytes = await ByteHash.start();
  await readSidecar(path, bytes.through(watchedBytes(path, io)), () => {});
  return { size: BigInt(bytes.size), hash: bytes.hex() };
}

/** Undefined when there is no such body. A tape may name anything; only hashes are looked up. */
async function bodySize(folder: string, hash: string): Promise<bigint | undefined> {
  if (!isBodyHash(hash)) return undefined;
  const path = join(folder, hash);
  const found = await statOf(path);
  if (found === undefined) return undefined;
  const bytes = await ByteHash.start();
  if (found.isFile()) for await (const _ of bytes.through(fileBytes(path)));
  if (!found.isFile() || bytes.hex() !== hash) {
    throw new FileError("body_damaged", path, `${path} does not have the hash in its name`);
  }
  return BigInt(bytes.size);
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new FileError("body_damaged", path, `${path} cannot be read: ${message}`);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort(compareUtf8);
  } catch {
    return [];
  }
}

/** Writes a bundle and replaces the file when it is complete. Compressed when the name ends in `.gz` or `.tgz`. */
export function writeBundle(output: string, gathered: Gathered): Promise<void> {
  return writeOutput(output, (file) => {
    if (/\.t?gz$/.test(output)) return pipeline(bundleBytes(gathered), createGzip(), file);
    return pipeline(bundleBytes(gathered), file);
  });
}

async function* bundleBytes({ manifest, paths }: Gathered): AsyncGenerator<Uint8Array> {
  const about = new TextEncoder().encode(printManifest(manifest));
  yield headerOf({ name: MANIFEST_NAME, size: about.length });
  yield about;
  yield new Uint8Array(paddingOf(about.length));
  for (const [i, file] of filesOf(manifest).entries()) {
    yield headerOf(file);
    yield* unchanged(paths[i] as string, file);
    yield new Uint8Array(paddingOf(file.size));
  }
  yield tarEnd();
}

function headerOf(entry: TarEntry): Uint8Array {
  const header = tarHeader(entry);
  if (header) return header;
  throw new FileError(
    "write_failed",
    entry.name,
    `${entry.name} is too large for a bundle: an entry holds less than 8 GiB`,
  );
}

/** The bytes of a file, which must be those in the manifest that was written before. */
async function* unchanged(path: string, { size, hash }: BundleFile): AsyncGenerator<Uint8Array> {
  const bytes = await ByteHash.start();
  yield* bytes.through(fileBytes(path));
  if (bytes.size === size && bytes.hex() === hash) return;
  throw new FileError("file_changed", path, `${path} was changed while it was being packed; try again`);
}
