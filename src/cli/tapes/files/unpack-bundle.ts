import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { BadArchive, readTarHeader, TarReader } from "../../../formats/archives/tar.ts";
import {
  BUNDLE_VERSION,
  type BundleFile,
  type BundleManifest,
  filesOf,
  MANIFEST_BYTES_MAX,
  MANIFEST_NAME,
  readManifest,
} from "../../../formats/tapes/bundle.ts";
import { ByteHash } from "../../../formats/tapes/digest.ts";
import { readSidecar } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import { readTapeContents } from "../../../formats/tapes/tape-facts.ts";
import { FileError } from "../../../formats/text/file-error.ts";
import { AppError } from "../../../protocol/errors.ts";
import { readWhole } from "../../files/read-file.ts";
import { refuseExisting } from "../../files/write-file.ts";
import { printable } from "../../output/printable.ts";
import { inDraftFolder, moveAll } from "./place-output.ts";
import { bodiesOf, fileBytes, sidecarOf } from "./tape-files.ts";

/** Larger than any recording, and small enough not to fill a disk. */
const BYTES_MAX = 2 ** 32;

/** Reads a bundle. Its errors are thrown as a `FileError` with its path. */
export class BundleReader {
  readonly #path: string;
  readonly #tar: TarReader;

  constructor(path: string) {
    this.#path = path;
    this.#tar = new TarReader(readWhole(path), readTarHeader);
  }

  /** The manifest, which is the first entry. */
  async manifest(bytesMax = BYTES_MAX): Promise<BundleManifest> {
    const entry = await this.#reading(() => this.#tar.next());
    if (entry?.name !== MANIFEST_NAME) throw this.#invalid(`it does not begin with ${MANIFEST_NAME}`);
    if (entry.size > MANIFEST_BYTES_MAX) throw this.#invalid(`${MANIFEST_NAME} is too large`);
    const content = await this.#reading(() => textOf(this.#tar.content(entry)));
    const read = readManifest(content);
    if ("problem" in read) throw this.#invalid(`${MANIFEST_NAME}: ${read.problem}`);
    if ("declared" in read) throw this.#tooNew(read.declared);
    const size = filesOf(read.manifest).reduce((sum, file) => sum + file.size, 0);
    if (size > bytesMax) throw this.#invalid(`its content has ${size} bytes and --max-bytes allows ${bytesMax}`);
    return read.manifest;
  }

  /** Writes the files of the manifest into an empty folder. Throws for files that differ from the manifest, and for other entries. */
  async unpack(manifest: BundleManifest, folder: string): Promise<void> {
    for (const file of filesOf(manifest)) await this.#reading(() => this.#unpackFile(file, folder));
    const more = await this.#reading(() => this.#tar.next());
    if (more !== undefined) throw this.#invalid(`${JSON.stringify(more.name)} is not in ${MANIFEST_NAME}`);
    await this.#reading(() => this.#check(manifest, join(folder, manifest.tape.name)));
  }

  async #unpackFile(file: BundleFile, folder: string): Promise<void> {
    const entry = await this.#tar.next();
    const found = entry === undefined ? "its end" : `${JSON.stringify(entry.name)} of ${entry.size} bytes`;
    // Paths are made from the checked manifest only: an entry with another name is refused.
    if (entry === undefined || entry.name !== file.name || entry.size !== file.size) {
      throw this.#invalid(`${found} is found where ${JSON.stringify(file.name)} of ${file.size} bytes is expected`);
    }
    const path = join(folder, file.name);
    await mkdir(dirname(path), { recursive: true });
    const hash = await ByteHash.start();
    await pipeline(hash.through(this.#tar.content(entry)), createWriteStream(path, { flags: "wx" }));
    if (hash.hex() === file.hash) return;
    throw this.#invalid(`${JSON.stringify(file.name)} does not have the hash in ${MANIFEST_NAME}`);
  }

  async #check(manifest: BundleManifest, path: string): Promise<void> {
    const { digest, records, referenced } = await readTapeContents(manifest.tape.name, fileBytes(path));
    if (digest !== manifest.tape.digest || records !== manifest.tape.records) {
      throw this.#invalid(`the tape does not have the digest in ${MANIFEST_NAME}`);
    }
    const named = [...manifest.bodies.map(({ hash }) => hash), ...manifest.missing];
    if (
      new Set(named).size !== named.length ||
      referenced.size !== named.length ||
      !named.every((one) => referenced.has(one))
    ) {
      throw this.#invalid("its bodies are not those that the tape refers to");
    }
    if (manifest.annotations !== null) {
      await readSidecar(sidecarOf(manifest.tape.name), fileBytes(sidecarOf(path)), () => {});
    }
  }

  async #reading<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof FileError && error.path !== this.#path) throw this.#invalid(error.message);
      if (error instanceof BadArchive) throw this.#invalid(error.message);
      if (error instanceof AppError) throw this.#wrong("bundle_read_failed", error.message.replace(/\.$/, ""));
      throw error;
    }
  }

  #tooNew(declared: number): FileError {
    const message = `load bundle ${this.#path}: it declares version ${declared} but this program supports up to ${BUNDLE_VERSION}`;
    return new FileError("unsupported_bundle_version", this.#path, message, { declared, supported: BUNDLE_VERSION });
  }

  #invalid(problem: string): FileError {
    return this.#wrong("bundle_invalid", problem);
  }

  #wrong(code: FileError["code"], problem: string): FileError {
    return new FileError(code, this.#path, `load bundle ${this.#path}: ${printable(problem)}`);
  }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch {
    throw new BadArchive(`${MANIFEST_NAME} is not UTF-8`);
  }
}

/** The names of the unpacked files and folders; the tape is moved last, so that the others are there when it appears. */
function namesIn({ tape, annotations, bodies }: BundleManifest): string[] {
  return [
    ...(bodies.length === 0 ? [] : [bodiesOf(tape.name)]),
    ...(annotations === null ? [] : [sidecarOf(tape.name)]),
    tape.name,
  ];
}

/**
 * Fills a draft folder and moves its content to `output`; nothing changes when filling fails. Existing files are refused before anything
 * is written, unless `force`.
 */
export async function place(
  manifest: BundleManifest,
  output: string,
  force: boolean,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const names = namesIn(manifest);
  for (const name of names) refuseExisting(join(output, name), force);
  await inDraftFolder(output, output, async (draft) => {
    await fill(draft);
    const moves = names.map((name) => ({ from: join(draft, name), to: join(output, name) }));
    moveAll(moves, draft);
  });
}

/** Runs `use` with the path of a tape; a bundle is unpacked into a temporary folder meanwhile. */
export async function withTape<T>(path: string, use: (tape: string) => Promise<T>): Promise<T> {
  if (!(await isBundle(path))) return use(path);
  const bundle = new BundleReader(path);
  const manifest = await bundle.manifest();
  const folder = await mkdtemp(join(tmpdir(), "assay-bundle-"));
  try {
    await bundle.unpack(manifest, folder);
    return await use(join(folder, manifest.tape.name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const GZIP = [0x1f, 0x8b];
const TAR = { at: 257, text: "ustar" };

/** Whether a file is a bundle, by its first bytes. A file that cannot be read is reported by the reader of tapes. */
async function isBundle(path: string): Promise<boolean> {
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const { buffer } = await handle.read(Buffer.alloc(512), 0, 512, 0);
    const isTar = buffer.toString("latin1", TAR.at, TAR.at + TAR.text.length) === TAR.text;
    return isTar || GZIP.every((byte, i) => buffer[i] === byte);
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}
