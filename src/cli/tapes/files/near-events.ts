import type { TapeRecord } from "../../../formats/tapes/tape.ts";

const EACH_SIDE = 2;

/** Watches the records of a tape go by for an event that was asked for, and knows in the end which ones are next to it. */
export class NearEvents {
  readonly #wanted: bigint;
  readonly #below = new Map<bigint, string>();
  readonly #above = new Map<bigint, string>();

  constructor(wanted: bigint) {
    this.#wanted = wanted;
  }

  take({ seq, kind }: TapeRecord): void {
    const side = seq < this.#wanted ? this.#below : this.#above;
    if (!side.has(seq)) side.set(seq, kind.kind);
    if (side.size <= EACH_SIDE) return;
    const [first = seq, ...rest] = [...side.keys()];
    side.delete(
      rest.reduce((far, one) => (distance(one, this.#wanted) > distance(far, this.#wanted) ? one : far), first),
    );
  }

  /** `1 (llm_call), 2 (file_write), 5 (clock_sleep)`, or undefined when the tape has no events. */
  text(): string | undefined {
    const near = [...this.#below, ...this.#above].sort(([a], [b]) => (a < b ? -1 : 1));
    return near.length === 0 ? undefined : near.map(([seq, kind]) => `${seq} (${kind})`).join(", ");
  }
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}
