import type { Bytes } from "../text/lines.ts";

/** A tar archive consists of blocks of this many bytes. */
export const BLOCK_BYTES = 512;

/** The largest number of eleven octal digits: 8 GiB less one byte. */
export const ENTRY_BYTES_MAX = 8 ** 11 - 1;

export interface TarEntry {
  /** With `/` between folders. */
  readonly name: string;
  readonly size: number;
}

/** Position and length of the fields of a header. POSIX calls this form ustar. */
const NAME = [0, 100] as const;
const MODE = [100, 8] as const;
const OWNER = [108, 8] as const;
const GROUP = [116, 8] as const;
const SIZE = [124, 12] as const;
const TIME = [136, 12] as const;
const CHECKSUM = [148, 8] as const;
const TYPE = [156, 1] as const;
const MAGIC = [257, 8] as const;
const PREFIX = [345, 155] as const;
type Field = readonly [start: number, length: number];

const USTAR = "ustar\u000000";
const PLAIN_FILE = "0";

const encoder = new TextEncoder();

/** Without owner and time, so that the same content gives the same bytes. Undefined when the name is too long or the file too large. */
export function tarHeader({ name, size }: TarEntry): Uint8Array | undefined {
  const parts = splitName(name);
  if (parts === undefined || size > ENTRY_BYTES_MAX) return undefined;
  const block = new Uint8Array(BLOCK_BYTES);
  const put = ([start]: Field, text: string) => block.set(encoder.encode(text), start);
  const number = (field: Field, value: number) => put(field, value.toString(8).padStart(field[1] - 1, "0"));
  put(NAME, parts.name);
  put(PREFIX, parts.prefix);
  number(MODE, 0o644);
  number(OWNER, 0);
  number(GROUP, 0);
  number(SIZE, size);
  number(TIME, 0);
  put(TYPE, PLAIN_FILE);
  put(MAGIC, USTAR);
  put(CHECKSUM, `${checksumOf(block).toString(8).padStart(6, "0")}\u0000 `);
  return block;
}

/** A name may be cut at a `/`, which is then left out. */
function splitName(name: string): { prefix: string; name: string } | undefined {
  const fits = (text: string, [, length]: Field) => encoder.encode(text).length <= length;
  if (fits(name, NAME)) return { prefix: "", name };
  const cut = name.lastIndexOf("/");
  const parts = { prefix: name.slice(0, Math.max(cut, 0)), name: name.slice(cut + 1) };
  return cut > 0 && fits(parts.prefix, PREFIX) && fits(parts.name, NAME) ? parts : undefined;
}

/** The file that a header announces, or the reason why the block is not a header of a plain file. */
export function readTarHeader(block: Uint8Array): TarEntry | string {
  if (textIn(block, CHECKSUM) === undefined || numberIn(block, CHECKSUM) !== checksumOf(block)) {
    return "it is no tar archive, or damaged";
  }
  const prefix = textIn(block, PREFIX);
  const name = textIn(block, NAME);
  if (name === undefined || prefix === undefined) return "a name is not UTF-8";
  if (bytesIn(block, MAGIC).join() !== encoder.encode(USTAR).join())
    return "it is a tar archive of another kind than ustar";
  if (textIn(block, TYPE) !== PLAIN_FILE) return `${JSON.stringify(name)} is not a plain file`;
  const size = numberIn(block, SIZE);
  if (size === undefined) return `the size of ${JSON.stringify(name)} is not readable`;
  return { name: prefix === "" ? name : `${prefix}/${name}`, size };
}

/** Kinds of entries in archives of other programs. */
export interface ForeignEntry extends TarEntry {
  /** `notes` are extended headers about the entries after them. */
  readonly kind: "file" | "folder" | "notes";
}

const GNU = "ustar  \u0000";
const KINDS: Readonly<Record<string, ForeignEntry["kind"]>> = {
  [PLAIN_FILE]: "file",
  "": "file",
  "5": "folder",
  x: "notes",
  g: "notes",
};

/** As `readTarHeader`, for archives of other programs; links, devices and names in other notations are still refused. */
export function readForeignHeader(block: Uint8Array): ForeignEntry | string {
  if (textIn(block, CHECKSUM) === undefined || numberIn(block, CHECKSUM) !== checksumOf(block)) {
    return "it is no tar archive, or damaged";
  }
  const magic = bytesIn(block, MAGIC).join();
  const isGnu = magic === encoder.encode(GNU).join();
  if (!isGnu && magic !== encoder.encode(USTAR).join()) return "it is a tar archive of another kind than ustar";
  // GNU tar has times in the place of the beginning of a long name.
  const prefix = isGnu ? "" : textIn(block, PREFIX);
  const ending = textIn(block, NAME);
  if (ending === undefined || prefix === undefined) return "a name is not UTF-8";
  const name = prefix === "" ? ending : `${prefix}/${ending}`;
  const type = textIn(block, TYPE) ?? "?";
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (kind === undefined) {
    return LONG_NAMES.includes(type)
      ? "a name is longer than 100 bytes; make the archive with --format=ustar"
      : `${JSON.stringify(name)} is not a plain file`;
  }
  const size = numberIn(block, SIZE);
  return size === undefined ? `the size of ${JSON.stringify(name)} is not readable` : { name, size, kind };
}

const LONG_NAMES = ["L", "K"];

/** The number of zeros that fill up the last block of a file. */
export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}

export function tarEnd(): Uint8Array {
  return new Uint8Array(2 * BLOCK_BYTES);
}

/** The sum of all bytes, with spaces for the sum itself. */
function checksumOf(block: Uint8Array): number {
  const [start, length] = CHECKSUM;
  return block.reduce((sum, byte, i) => sum + (i >= start && i < start + length ? 0x20 : byte), 0);
}

function bytesIn(block: Uint8Array, [start, length]: Field): Uint8Array {
  return block.subarray(start, start + length);
}

/** Up to the first zero byte. */
function textIn(block: Uint8Array, field: Field): string | undefined {
  const bytes = bytesIn(block, field);
  const end = bytes.indexOf(0);
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
  } catch {
    return undefined;
  }
}

function numberIn(block: Uint8Array, field: Field): number | undefined {
  const digits = textIn(block, field)?.trim() ?? "";
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : undefined;
}

export class BadArchive extends Error {
  override readonly name = "BadArchive";
}

/**
 * Reads an archive from its first byte to its last, one file at a time, and holds no more than a piece of it. Throws `BadArchive` for an
 * invalid header.
 */
export class TarReader<E extends TarEntry = TarEntry> {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #header: (block: Uint8Array) => E | string;
  #rest: Uint8Array = new Uint8Array();

  /** `header` decides which entries are allowed. */
  constructor(bytes: Bytes, header: (block: Uint8Array) => E | string) {
    this.#pieces = iterate(bytes);
    this.#header = header;
  }

  /** The next file, whose content must then be read; undefined at the end of the archive, where only zeros may follow. */
  async next(): Promise<E | undefined> {
    const block = await this.#exactly(BLOCK_BYTES);
    if (!isZero(block)) return checked(this.#header(block));
    if (!isZero(await this.#exactly(BLOCK_BYTES))) throw new BadArchive("something follows its end");
    for (
      let piece = await this.#some(Number.MAX_SAFE_INTEGER);
      piece;
      piece = await this.#some(Number.MAX_SAFE_INTEGER)
    ) {
      if (!isZero(piece)) throw new BadArchive("something follows its end");
    }
    return undefined;
  }

  /** The bytes of the file that `next` returned. */
  async *content({ size }: TarEntry): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; ) {
      const piece = await this.#some(left);
      if (piece === undefined) throw truncated();
      left -= piece.length;
      yield piece;
    }
    if (!isZero(await this.#exactly(paddingOf(size)))) throw new BadArchive("a file is not filled up with zeros");
  }

  async #exactly(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; ) {
      const piece = await this.#some(length - at);
      if (piece === undefined) throw truncated();
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  /** The available bytes, at most `most`; undefined at the end. */
  async #some(most: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#pieces.next();
      if (done) return undefined;
      this.#rest = value;
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}

async function* iterate(bytes: Bytes): AsyncGenerator<Uint8Array> {
  yield* bytes;
}

function checked<E extends TarEntry>(entry: E | string): E {
  if (typeof entry === "string") throw new BadArchive(entry);
  return entry;
}

function truncated(): BadArchive {
  return new BadArchive("it ends too early");
}

const ZEROS = Buffer.alloc(64 * 1024);

/** Compared as blocks of memory: an archive may end in megabytes of zeros. */
function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const piece = bytes.subarray(at, at + ZEROS.length);
    if (!ZEROS.subarray(0, piece.length).equals(piece)) return false;
  }
  return true;
}
