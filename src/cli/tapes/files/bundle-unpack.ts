import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { readTarHeader } from "../../../formats/archives/tar-header.ts";
import { BadArchive, TarReader } from "../../../formats/archives/tar-reader.ts";
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
import { printable } from "../../output/printable.ts";
import { fileBytes } from "./file-bytes.ts";
import { sidecarOf } from "./tape-paths.ts";

/** More than any recording needs, and less than fills a disk. */
const BYTES_MAX = 2 ** 32;

/** A bundle that is being read. Whatever is wrong with it is thrown as a `FileError` that names it. */
export class BundleReader {
  readonly #path: string;
  readonly #tar: TarReader;

  constructor(path: string) {
    this.#path = path;
    this.#tar = new TarReader(readWhole(path), readTarHeader);
  }

  /** The first thing in it. */
  async manifest(bytesMax = BYTES_MAX): Promise<BundleManifest> {
    const entry = await this.#reading(() => this.#tar.next());
    if (entry?.name !== MANIFEST_NAME) throw this.#invalid(`it does not begin with ${MANIFEST_NAME}`);
    if (entry.size > MANIFEST_BYTES_MAX) throw this.#invalid(`${MANIFEST_NAME} is too large`);
    const content = await this.#reading(() => textOf(this.#tar.content(entry)));
    const read = readManifest(content);
    if ("problem" in read) throw this.#invalid(`${MANIFEST_NAME}: ${read.problem}`);
    if ("declared" in read) throw this.#tooNew(read.declared);
    const size = filesOf(read.manifest).reduce((sum, file) => sum + file.size, 0);
    if (size > bytesMax) throw this.#invalid(`it holds ${size} bytes and --max-bytes allows ${bytesMax}`);
    return read.manifest;
  }

  /** Writes the files of the manifest into an empty folder, and makes sure that they are what it says and that nothing else is there. */
  async unpack(manifest: BundleManifest, folder: string): Promise<void> {
    for (const file of filesOf(manifest)) await this.#reading(() => this.#unpackFile(file, folder));
    const more = await this.#reading(() => this.#tar.next());
    if (more !== undefined) throw this.#invalid(`${JSON.stringify(more.name)} is not in ${MANIFEST_NAME}`);
    await this.#reading(() => this.#check(manifest, join(folder, manifest.tape.name)));
  }

  async #unpackFile(file: BundleFile, folder: string): Promise<void> {
    const entry = await this.#tar.next();
    const found = entry === undefined ? "its end" : `${JSON.stringify(entry.name)} of ${entry.size} bytes`;
    // Names are never taken from the archive: an entry is the one that is expected, or the bundle is refused.
    if (entry === undefined || entry.name !== file.name || entry.size !== file.size) {
      throw this.#invalid(`${found} is found where ${JSON.stringify(file.name)} of ${file.size} bytes is expected`);
    }
    const path = join(folder, file.name);
    await mkdir(dirname(path), { recursive: true });
    const hash = await ByteHash.start();
    await pipeline(hash.through(this.#tar.content(entry)), createWriteStream(path, { flags: "wx" }));
    if (hash.hex() === file.hash) return;
    throw this.#invalid(`${JSON.stringify(file.name)} does not have the hash it should have`);
  }

  async #check(manifest: BundleManifest, path: string): Promise<void> {
    const { digest, records, referenced } = await readTapeContents(manifest.tape.name, fileBytes(path));
    if (digest !== manifest.tape.digest || records !== manifest.tape.records) {
      throw this.#invalid("the tape does not have the digest it should have");
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
