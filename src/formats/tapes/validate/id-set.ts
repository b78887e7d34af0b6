import { createBLAKE3, type IHasher } from "hash-wasm";

/** Longer ids are kept as their BLAKE3, so that no id costs more than about 100 bytes; no two texts are known to share one. */
export const ID_BYTES_MAX = 64;
const HASHED = 255;

const CHUNK_BYTES = 1 << 18;
/** Entries begin at multiples of this, so that 32 bits can point into 32 GB of ids. */
const UNIT_BYTES = 8;
const CHUNK_UNITS = CHUNK_BYTES / UNIT_BYTES;
const SLOTS_AT_FIRST = 1 << 10;

/**
 * The ids that have been seen, compared by all their bytes. A `Set` of strings takes three to five times the memory, and every id would
 * have to become a string first. The seed keeps those who write ids from choosing ones that meet in the table.
 */
export class IdSet {
  readonly #hasher: IHasher;
  readonly #seed: number;
  readonly #encoder = new TextEncoder();
  /** Entries: a length, then the bytes. None lies in two chunks. */
  readonly #chunks: Uint8Array[] = [];
  #unitsUsed = 0;
  /** Where an entry is, plus one; 0 is free. */
  #slots = new Uint32Array(SLOTS_AT_FIRST);
  #hashes = new Uint32Array(SLOTS_AT_FIRST);
  #count = 0;

  private constructor(hasher: IHasher, seed: number) {
    this.#hasher = hasher;
    this.#seed = seed;
  }

  static async start(seed = 0): Promise<IdSet> {
    return new IdSet(await createBLAKE3(), seed);
  }

  get size(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#chunks.length * CHUNK_BYTES + this.#slots.byteLength + this.#hashes.byteLength;
  }

  /** Whether it is new. */
  addText(id: string): boolean {
    const bytes = this.#encoder.encode(id);
    return this.add(bytes, 0, bytes.length);
  }

  /** Whether it is new. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start <= ID_BYTES_MAX) return this.#add(bytes, start, end, end - start);
    const hash = this.#hasher.init().update(bytes.subarray(start, end)).digest("binary");
    return this.#add(hash, 0, hash.length, HASHED);
  }

  #add(bytes: Uint8Array, start: number, end: number, length: number): boolean {
    const hash = hashOf(bytes, start, end, this.#seed);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let entry = this.#slots[slot]; entry !== 0; entry = this.#slots[slot]) {
      if (this.#hashes[slot] === hash && this.#holds((entry as number) - 1, bytes, start, end, length)) return false;
      slot = (slot + 1) & mask;
    }
    this.#slots[slot] = this.#store(bytes, start, end, length) + 1;
    this.#hashes[slot] = hash;
    this.#count++;
    if (this.#count * 4 > this.#slots.length * 3) this.#grow();
    return true;
  }

  #holds(unit: number, bytes: Uint8Array, start: number, end: number, length: number): boolean {
    const chunk = this.#chunks[Math.floor(unit / CHUNK_UNITS)] as Uint8Array;
    let at = (unit % CHUNK_UNITS) * UNIT_BYTES;
    if (chunk[at++] !== length) return false;
    for (let i = start; i < end; i++) if (chunk[at++] !== bytes[i]) return false;
    return true;
  }

  #store(bytes: Uint8Array, start: number, end: number, length: number): number {
    const units = Math.ceil((1 + end - start) / UNIT_BYTES);
    const left = this.#chunks.length * CHUNK_UNITS - this.#unitsUsed;
    if (left < units) {
      this.#unitsUsed += left;
      this.#chunks.push(new Uint8Array(CHUNK_BYTES));
    }
    const unit = this.#unitsUsed;
    this.#unitsUsed += units;
    const chunk = this.#chunks[this.#chunks.length - 1] as Uint8Array;
    let at = (unit % CHUNK_UNITS) * UNIT_BYTES;
    chunk[at++] = length;
    for (let i = start; i < end; i++) chunk[at++] = bytes[i] as number;
    return unit;
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 2);
    const hashes = new Uint32Array(slots.length);
    const mask = slots.length - 1;
    for (const [from, entry] of this.#slots.entries()) {
      if (entry === 0) continue;
      const hash = this.#hashes[from] as number;
      let slot = hash & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry;
      hashes[slot] = hash;
    }
    this.#slots = slots;
    this.#hashes = hashes;
  }
}

/** FNV-1a, and its bits mixed once more, since a table looks at the low ones only. */
function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
