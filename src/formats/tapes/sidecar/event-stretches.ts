import { lowerBound } from "../../text/lower-bound.ts";
import { compareSeq } from "../seq-set.ts";
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

/** The events that any of some rows is about, however many there are. */
export class EventStretches {
  /** Sorted, and apart from each other. */
  readonly #stretches: Stretch[] = [];

  constructor(rows: Iterable<Pick<Row, "event_id" | "span">>) {
    const stretches = Array.from(rows, stretchOf).sort((a, b) => compareSeq(a.first, b.first));
    for (const { first, last } of stretches) {
      const before = this.#stretches.at(-1);
      if (before === undefined || first > before.last) this.#stretches.push({ first, last });
      else if (last > before.last) this.#stretches[this.#stretches.length - 1] = { first: before.first, last };
    }
  }

  has(seq: bigint): boolean {
    const at = lowerBound(this.#stretches.length, (i) => (this.#stretches[i] as Stretch).last >= seq);
    const found = this.#stretches[at];
    return found !== undefined && found.first <= seq;
  }
}
