import type { Row } from "./sidecar.ts";

/** From the first event to the last, both included. */
export interface Stretch {
  readonly first: bigint;
  readonly last: bigint;
}

/** The events that a row is about: its span, unless that makes no sense. */
export function stretchOf({ event_id, span }: Pick<Row, "event_id" | "span">): Stretch {
  const isSound = span !== null && span.start_event_id === event_id && span.end_event_id >= event_id;
  return { first: event_id, last: isSound ? span.end_event_id : event_id };
}

/** The events that somebody wants left alone. */
export class MutedEvents {
  /** Sorted, and apart from each other. */
  readonly #stretches: Stretch[] = [];

  constructor(mutes: Iterable<Pick<Row, "event_id" | "span">>) {
    const stretches = Array.from(mutes, stretchOf).sort((a, b) => (a.first < b.first ? -1 : 1));
    for (const { first, last } of stretches) {
      const before = this.#stretches.at(-1);
      if (before === undefined || first > before.last) this.#stretches.push({ first, last });
      else if (last > before.last) this.#stretches[this.#stretches.length - 1] = { first: before.first, last };
    }
  }

  has(seq: bigint): boolean {
    let low = 0;
    let high = this.#stretches.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const { first, last } = this.#stretches[middle] as Stretch;
      if (last < seq) low = middle + 1;
      else if (first > seq) high = middle - 1;
      else return true;
    }
    return false;
  }
}
