/** The files of a pack by their path, with `/` between folders. */
export type PackFiles = ReadonlyMap<string, Uint8Array>;

export const PACK_LIMITS = { maxFiles: 1000, maxBytes: 33_554_432 } as const;

/** An archive has entries that are no files: folders, and notes to what follows. */
const ENTRIES_MAX = PACK_LIMITS.maxFiles * 4;

export const MANIFEST_FILE = "pack.json";

/** Why a pack cannot be read. The message continues the name of the pack. */
export class BadPack extends Error {
  override readonly name = "BadPack";
}

/** Takes in one file after the other, and no more of them than a pack may have. */
export class PackFileList {
  readonly #files = new Map<string, Uint8Array>();
  #left: number = PACK_LIMITS.maxBytes;
  #entries = 0;

  /** Called before the content is read: it may be larger than the limit. */
  expect(bytes: number): void {
    this.#entries += 1;
    if (this.#files.size >= PACK_LIMITS.maxFiles) throw new BadPack(`has more than ${PACK_LIMITS.maxFiles} files`);
    if (this.#entries > ENTRIES_MAX) throw new BadPack(`has more than ${ENTRIES_MAX} entries`);
    this.#left -= bytes;
    if (this.#left < 0) throw new BadPack(`has more than ${PACK_LIMITS.maxBytes} bytes in its files`);
  }

  add(path: string, content: Uint8Array): void {
    if (this.#files.has(path)) throw new BadPack(`has ${JSON.stringify(path)} twice`);
    this.#files.set(path, content);
  }

  /** Archives with a single top folder are common: then that folder is the pack. */
  files(): PackFiles {
    if (this.#files.has(MANIFEST_FILE)) return this.#files;
    const tops = new Set([...this.#files.keys()].map((path) => path.slice(0, path.indexOf("/") + 1)));
    const [top = ""] = tops;
    if (tops.size !== 1 || !this.#files.has(`${top}${MANIFEST_FILE}`)) throw new BadPack(`has no ${MANIFEST_FILE}`);
    return new Map([...this.#files].map(([path, content]) => [path.slice(top.length), content]));
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\\\u2028\u2029]/;

/**
 * A path as a pack has it, without the `./` that programs put before it. Undefined for what begins with a dot at any place, which
 * editors and operating systems leave behind. Throws for one that leads out of the pack.
 */
export function packPath(raw: string): string | undefined {
  const steps = raw.split("/").filter((step) => step !== "." && step !== "");
  const shown = JSON.stringify(raw.slice(0, 200));
  if (raw.startsWith("/") || steps.includes("..")) throw new BadPack(`has a path that leads out of it, ${shown}`);
  if (UNPRINTABLE.test(raw) || steps.length === 0) throw new BadPack(`has a path that cannot be used, ${shown}`);
  return steps.some((step) => step.startsWith(".")) ? undefined : steps.join("/");
}
