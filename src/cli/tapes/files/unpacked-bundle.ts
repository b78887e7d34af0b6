import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BundleReader } from "./bundle-unpack.ts";

/** Gives the tape itself to `use`, also where `path` is a bundle: that is unpacked for as long as it takes. */
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

/** By its first bytes. What cannot be read is for the reader of tapes to complain of. */
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
