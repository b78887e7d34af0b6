import { createHash } from "node:crypto";
import type { PackFiles } from "./pack-files.ts";

/** The file of the signature; the only one that the list leaves out. */
export const SIGNATURE_FILE = "pack.files.sig";

/**
 * The content of a pack as a text that is signed and hashed: a first line, then for each file the SHA-256 of its content, two
 * spaces and its path, in the order of the bytes of the paths. The lines have the format of `sha256sum`.
 */
export function fileList(files: PackFiles): string {
  const lines = [...files]
    .filter(([path]) => path !== SIGNATURE_FILE)
    .map(([path, content]) => ({ bytes: Buffer.from(path), line: `${sha256(content)}  ${path}\n` }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return `assay-pack-v1\n${lines.map(({ line }) => line).join("")}`;
}

export function packHash(files: PackFiles): string {
  return sha256(Buffer.from(fileList(files)));
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
