import type { TarEntry } from "../archives/tar.ts";
import { type Decoded, list, object, optional, text, u32, u64 } from "../json/codec.ts";
import { readJson, Unreadable } from "../json/exact-json.ts";
import { compareUtf8, indentJson } from "../json/print-json.ts";
import { isBodyHash } from "./tape.ts";

/** The newest version of the format that is read and written here. */
export const BUNDLE_VERSION = 1;
export const BUNDLE_FORMAT = "assay-tape-bundle";

/** The first file of a bundle. */
export const MANIFEST_NAME = "bundle.json";
/** Enough for some hundred thousand bodies. */
export const MANIFEST_BYTES_MAX = 64 * 2 ** 20;
/** Names of all files then fit into the headers of the archive. */
const TAPE_NAME_BYTES_MAX = 80;

/** Names and order of members are those of the file. `hash` is the BLAKE3 of the bytes. */
const manifest = object({
  format: text,
  version: u32,
  tape: object({ name: text, digest: text, records: u64, size: u64, hash: text }),
  annotations: optional(object({ size: u64, hash: text })),
  bodies: list(object({ hash: text, size: u64 })),
  missing: list(text),
});
export type BundleManifest = Decoded<typeof manifest>;

/** A file of a bundle besides the manifest, with the hash of its bytes. */
export interface BundleFile extends TarEntry {
  readonly hash: string;
}

/** Ends with a line feed. */
export function printManifest(value: BundleManifest): string {
  return `${indentJson(manifest.print(value))}\n`;
}

export type ReadManifest =
  | { readonly manifest: BundleManifest }
  | { readonly problem: string }
  | { readonly declared: number };

/** The manifest of a bundle, or its problem; a newer version has a problem of its own. */
export function readManifest(content: string): ReadManifest {
  try {
    const value = readJson(content);
    const { format, version } = object({ format: text, version: u32 }).read(value);
    if (format !== BUNDLE_FORMAT) return { problem: `its format is not ${BUNDLE_FORMAT}` };
    if (version > BUNDLE_VERSION) return { declared: Number(version) };
    const read = manifest.read(value);
    const problem = problemOf(read);
    return problem === undefined ? { manifest: read } : { problem };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

function problemOf({ tape, bodies, missing }: BundleManifest): string | undefined {
  const hashes = bodies.map(({ hash }) => hash);
  if (nameProblem(tape.name) !== undefined) return `\`tape\`: its name ${nameProblem(tape.name)}`;
  if (!hashes.every(isBodyHash)) return "`bodies`: a hash is not 64 lower-case hexadecimal digits";
  if (!isSorted(hashes)) return "`bodies`: not sorted, or one is there twice";
  if (!isSorted(missing)) return "`missing`: not sorted, or one is there twice";
  return undefined;
}

/** The reason why a tape of this name cannot be in a bundle: the name becomes a file name on other people's disks. */
export function nameProblem(name: string): string | undefined {
  if (name === "" || name === "." || name === "..") return "is none";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/[/\\\u0000-\u001f\u007f]/.test(name)) return "has a slash, a backslash or a control character in it";
  if (name === MANIFEST_NAME) return `is ${MANIFEST_NAME}, which a bundle needs itself`;
  if (new TextEncoder().encode(name).length > TAPE_NAME_BYTES_MAX) return `has more than ${TAPE_NAME_BYTES_MAX} bytes`;
  return undefined;
}

function isSorted(names: readonly string[]): boolean {
  return names.every((name, i) => i === 0 || compareUtf8(names[i - 1] as string, name) < 0);
}

/** Every file that follows the manifest, in the only order that is allowed. */
export function filesOf({ tape, annotations, bodies }: BundleManifest): BundleFile[] {
  const sidecar = annotations === null ? [] : [{ name: `${tape.name}.annotations.jsonl`, ...annotations }];
  const files = [
    tape,
    ...sidecar,
    ...bodies.map(({ hash, size }) => ({ name: `${tape.name}.cas/${hash}`, hash, size })),
  ];
  return files.map(({ name, size, hash }) => ({ name, size: Number(size), hash }));
}
