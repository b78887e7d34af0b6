import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { paddingOf, type TarEntry, tarEnd, tarHeader } from "../../../formats/archives/tar-header.ts";
import { type BundleFile, filesOf, MANIFEST_NAME, printManifest } from "../../../formats/tapes/bundle.ts";
import { ByteHash } from "../../../formats/tapes/digest.ts";
import { FileError } from "../../../formats/text/file-error.ts";
import { writeOutput } from "../../files/write-file.ts";
import type { Gathered } from "./bundle-gather.ts";
import { fileBytes } from "./file-bytes.ts";

/** Writes a bundle in place of what was there, when it is whole. Compressed when the name ends in `.gz` or `.tgz`. */
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

/** The manifest has been written before, so what follows must be what it speaks of. */
async function* unchanged(path: string, { size, hash }: BundleFile): AsyncGenerator<Uint8Array> {
  const bytes = await ByteHash.start();
  yield* bytes.through(fileBytes(path));
  if (bytes.size === size && bytes.hex() === hash) return;
  throw new FileError("file_changed", path, `${path} was changed while it was being packed; try again`);
}
