import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { compareUtf8 } from "../../../formats/json/print-json.ts";
import { BUNDLE_FORMAT, BUNDLE_VERSION, type BundleManifest } from "../../../formats/tapes/bundle.ts";
import { ByteHash } from "../../../formats/tapes/digest.ts";
import { readSidecar } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import { isBodyHash } from "../../../formats/tapes/tape.ts";
import { readTapeContents } from "../../../formats/tapes/tape-facts.ts";
import { FileError } from "../../../formats/text/file-error.ts";
import { fileBytes, type Progress, watchedBytes } from "./file-bytes.ts";
import { bodiesOf } from "./tape-paths.ts";

export interface Gathered {
  readonly manifest: BundleManifest;
  /** Where the files of the manifest are, in its order. */
  readonly paths: readonly string[];
  /** Files beside the tape that no record refers to. */
  readonly leftOut: readonly string[];
}

/** Reads everything that belongs to a tape once, to say what a bundle of it holds. Throws `FileError` for what does not load. */
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

/** Nothing when there is no such body. A tape may name anything, and what is no hash is never looked for. */
async function bodySize(folder: string, hash: string): Promise<bigint | undefined> {
  if (!isBodyHash(hash)) return undefined;
  const path = join(folder, hash);
  const found = await statOf(path);
  if (found === undefined) return undefined;
  const bytes = await ByteHash.start();
  if (found.isFile()) for await (const _ of bytes.through(fileBytes(path)));
  if (!found.isFile() || bytes.hex() !== hash) {
    throw new FileError("body_damaged", path, `${path} is not the body that its name says`);
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
