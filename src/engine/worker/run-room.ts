import { getHeapStatistics } from "node:v8";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { LARGEST_RUN } from "../runs/run-size.ts";

interface RunRoomSettings {
  /** The largest run, as `sizeOf` measures it. */
  readonly maxRunBytes: number;
  /** The bytes that large executing runs and large reads may hold together. */
  readonly maxBytesInHand: number;
  /** A state of more bytes is never loaded: reading it would end the process. Only the head of the run is. */
  readonly maxLoadBytes?: number;
  /** The longest log that is read whole, for a replay or a fork: twice the largest run if not given. */
  readonly maxLogBytes?: number;
  /** How long a request waits for room before it is refused. */
  readonly readWaitMs?: number;
}

/** A large turn holds the run, its events and their texts: about eight times the run. One at a time takes half of the heap at most. */
const RUNS_PER_HEAP = 16;
const IN_HAND_PER_HEAP = 4;
/** A state that is read, parsed and written out once takes about four times its bytes: half of the heap at most. */
const LOADS_PER_HEAP = 8;
/** Loaded runs may be larger than a run may grow: a host before may have had more memory or another limit. */
const LOADED_PER_RUN = 2;
const READ_WAIT_MS = 5000;
/** The extra part of the budget that open streams of whole runs may hold. */
const FOLLOWED_PART = 4;

function heapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}

/** The default room for the heap of this process, which `--max-old-space-size` or the memory of the machine determines. */
export function defaultRoom(heapBytes = heapLimit()) {
  return {
    maxRunBytes: Math.min(LARGEST_RUN, Math.floor(heapBytes / RUNS_PER_HEAP)),
    maxBytesInHand: Math.floor(heapBytes / IN_HAND_PER_HEAP),
    maxLogBytes: Math.min(LONGEST_LOG, Math.floor(heapBytes / LOADS_PER_HEAP)),
  };
}

const SMALL_MAX = 256 * 1024;
const SMALL_MIN = 16 * 1024;
const SMALL_PER_HOST = 1024;
/** The size of a run is at most about so many times its bytes: a small run, of which only the bytes are counted, is never too large. */
const SIZE_PER_BYTE = 8;

/** Events repeat what a run holds; a log that is read whole may be so many times as long as a run. */
const LOG_PER_RUN = 2;
/** The longest log by default, enough for runs that an earlier version let grow larger. */
const LONGEST_LOG = 128_000_000;

/** A run in memory is about twice its JSON; a request that reads it writes its own JSON too. */
const HELD_PER_BYTE = 2;
const READ_PER_BYTE = 4;

/**
 * Memory for runs. Small runs are free: their number is bounded by the worker's concurrency. Turns of large runs are taken one at a time,
 * because a turn cannot be interrupted and the growth of a run in it is not known beforehand. Large runs between turns, and requests that read
 * them, share one budget of bytes.
 */
export class RunRoom {
  readonly maxRunBytes: number;
  /** Up to so many bytes of JSON a run is small. */
  readonly smallBytes: number;
  readonly bytes: ByteRoom;
  readonly maxLogBytes: number;
  /** One unit: the right to take the turn of a large run. */
  readonly #turn = new ByteRoom(1);
  readonly #commits = new ByteRoom(1);
  readonly #families = new ByteRoom(1);
  readonly #loads = new ByteRoom(1);
  readonly #events = new ByteRoom(1);
  readonly #followed: ByteRoom;
  readonly #readWaitMs: number;
  /** The largest state that is loaded at all. */
  readonly maxLoadBytes: number;

  constructor(settings: RunRoomSettings = defaultRoom()) {
    const { maxRunBytes, maxBytesInHand, maxLoadBytes, maxLogBytes, readWaitMs = READ_WAIT_MS } = settings;
    this.maxRunBytes = maxRunBytes;
    this.maxLoadBytes = maxLoadBytes ?? Math.max(maxRunBytes * LOADED_PER_RUN, heapLimit() / LOADS_PER_HEAP);
    this.#readWaitMs = readWaitMs;
    this.#followed = new ByteRoom(Math.floor(maxBytesInHand / FOLLOWED_PART));
    this.maxLogBytes = maxLogBytes ?? maxRunBytes * LOG_PER_RUN;
    this.smallBytes = Math.min(
      SMALL_MAX,
      Math.max(SMALL_MIN, Math.floor(maxBytesInHand / SMALL_PER_HOST)),
      Math.floor(maxRunBytes / SIZE_PER_BYTE),
    );
    this.bytes = new ByteRoom(maxBytesInHand);
  }

  /** Resolves with the release when it is the caller's turn, in the order of the calls. */
  largeTurn(): Promise<() => void> {
    return this.#turn.take(1);
  }

  /** The same without waiting: undefined while another large turn is under way or waited for. */
  largeTurnNow(): (() => void) | undefined {
    return this.#turn.takeNow(1);
  }

  get largeTurnsWaiting(): number {
    return this.#turn.waiting;
  }

  /** Large units are written out and committed one at a time: each is held as text until its commit returns. */
  async commitLarge<T>(commit: () => Promise<T>): Promise<T> {
    const done = await this.#commits.take(1);
    try {
      return await commit();
    } finally {
      done();
    }
  }

  /** Resolves with the release when it is the caller's turn to read and write a family with large runs. */
  largeFamily(): Promise<() => void> {
    return this.#families.take(1);
  }

  /** Resolves with the release when it is the caller's turn to give an event to large runs. */
  largeEvent(): Promise<() => void> {
    return this.#events.take(1);
  }

  /** Large runs that are read by the host itself are loaded one at a time. */
  async loadLarge<T>(load: () => Promise<T>): Promise<T> {
    const done = await this.#loads.take(1);
    try {
      return await load();
    } finally {
      done();
    }
  }

  /** Room for a large run between two of its turns. */
  holdNow(bytes: number): (() => void) | undefined {
    return this.bytes.takeNow(bytes * HELD_PER_BYTE);
  }

  hold(bytes: number): Promise<() => void> {
    return this.bytes.take(bytes * HELD_PER_BYTE);
  }

  /** Room for a request that reads so many bytes of a run. Throws `unavailable` when there is none in time. */
  async read(bytes: number): Promise<() => void> {
    const release = await this.bytes.takeWithin(bytes * READ_PER_BYTE, this.#readWaitMs);
    if (release === undefined) throw new AppError("unavailable", { reason: "other large runs are being read" });
    return release;
  }

  /** The size of a stored run of so many bytes at most: only runs of an earlier version, or of a host with another limit, are larger than a run may be. */
  sizeMost(bytes: number): number {
    const size = bytes * SIZE_PER_BYTE;
    return bytes > this.maxRunBytes ? size : Math.min(size, this.maxRunBytes);
  }

  /** Room for a stream that keeps a run of so many bytes while it is open. Throws `unavailable` when others keep too much. */
  follow(bytes: number): () => void {
    if (bytes <= this.smallBytes) return () => {};
    const release = this.#followed.takeNow(bytes * HELD_PER_BYTE);
    if (release === undefined) throw new AppError("unavailable", { reason: "other large runs are being followed" });
    return release;
  }
}

/** Gives work room for the large runs that it reads, and takes the room back when the work is done. */
export async function withReadRoom<T>(
  host: { readonly room?: RunRoom | undefined },
  work: (room: Required<Pick<Visibility, "beforeLargeRead">>) => Promise<T>,
): Promise<T> {
  const releases: (() => void)[] = [];
  const beforeLargeRead = async (bytes: number) => void releases.push(await roomOf(host).read(bytes));
  try {
    return await work({ beforeLargeRead });
  } finally {
    for (const release of releases) release();
  }
}

let shared: RunRoom | undefined;

/** The room of a host; hosts without settings of their own share one that fits this process. */
export function roomOf({ room }: { readonly room?: RunRoom | undefined }): RunRoom {
  shared ??= new RunRoom();
  return room ?? shared;
}

interface Waiting {
  readonly amount: number;
  readonly admit: (release: () => void) => void;
}

/** A bounded amount that is taken and released. Takers are served in order; one that wants more than the total gets the total. */
export class ByteRoom {
  readonly #total: number;
  #free: number;
  #line: Waiting[] = [];

  constructor(total: number) {
    this.#total = total;
    this.#free = total;
  }

  get used(): number {
    return this.#total - this.#free;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** Undefined when there is no room now, or others wait for it. The release may be called more than once. */
  takeNow(wanted: number): (() => void) | undefined {
    const amount = Math.min(wanted, this.#total);
    if (this.#line.length > 0 || amount > this.#free) return undefined;
    return this.#admit(amount);
  }

  take(wanted: number): Promise<() => void> {
    const now = this.takeNow(wanted);
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((admit) => void this.#line.push({ amount: Math.min(wanted, this.#total), admit }));
  }

  /** Undefined when there was no room in time. */
  takeWithin(wanted: number, withinMs: number): Promise<(() => void) | undefined> {
    const now = this.takeNow(wanted);
    if (now !== undefined) return Promise.resolve(now);
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => {
        this.#line = this.#line.filter((one) => one !== waiting);
        resolve(undefined);
        this.#serve();
      }, withinMs);
      const waiting: Waiting = {
        amount: Math.min(wanted, this.#total),
        admit: (release) => {
          clearTimeout(giveUp);
          resolve(release);
        },
      };
      this.#line.push(waiting);
    });
  }

  #admit(amount: number): () => void {
    this.#free -= amount;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#free += amount;
      this.#serve();
    };
  }

  #serve(): void {
    for (let first = this.#line[0]; first !== undefined && first.amount <= this.#free; first = this.#line[0]) {
      this.#line.shift();
      first.admit(this.#admit(first.amount));
    }
  }
}
