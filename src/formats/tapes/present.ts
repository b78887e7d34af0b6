import { lowerBound } from "../text/collections.ts";
import { compareSeq } from "./seq-set.ts";
import { CurrentRows, EventStretches, stretchOf } from "./sidecar/current-rows.ts";
import type { Row } from "./sidecar/sidecar.ts";
import type { TapeRecord } from "./tape.ts";

/** One step of a presentation: a row and the events it is about. */
export interface Step {
  readonly row: Row;
  /** The events with the number of the row; several where a tape repeats a number. */
  readonly events: readonly TapeRecord[];
  /** The other events in the span of the row. */
  readonly span: readonly TapeRecord[];
}

export interface Presentation {
  readonly steps: readonly Step[];
  /** Rows left out because their events are muted. */
  readonly muted: readonly Row[];
  /** Rows left out because the tape has no such event. */
  readonly lost: readonly Row[];
}

/** The rows that become steps: markers and alternatives, in the order of their events, and of the file within an event. */
export class Stops {
  readonly #rows = new CurrentRows(["marker", "alternative"], (row) => row);

  /** Takes every row of a sidecar, in the order of the file. */
  add(row: Row): void {
    this.#rows.add(row);
  }

  finish(): PresentationPlan {
    const { heard, muted } = this.#rows.split();
    const stops = [...heard].sort((a, b) => compareSeq(a.event_id, b.event_id));
    return { stops, muted, wants: new EventStretches(stops) };
  }
}

export interface PresentationPlan {
  readonly stops: readonly Row[];
  readonly muted: readonly Row[];
  /** The events that the presentation needs; a tape may have many more. */
  readonly wants: { has(seq: bigint): boolean };
}

/** `records` are those that the plan needs, in any order. */
export function presentationOf({ stops, muted }: PresentationPlan, records: readonly TapeRecord[]): Presentation {
  const ordered = [...records].sort((a, b) => compareSeq(a.seq, b.seq));
  const placeOf = (seq: bigint) => lowerBound(ordered.length, (i) => (ordered[i] as TapeRecord).seq >= seq);
  const all = stops.map((row) => {
    const { first, last } = stretchOf(row);
    const about = ordered.slice(placeOf(first), placeOf(last + 1n));
    const own = about.filter(({ seq }) => seq === row.event_id);
    return { row, events: own, span: about.slice(own.length) };
  });
  return {
    steps: all.filter(({ events }) => events.length > 0),
    muted,
    lost: all.filter(({ events }) => events.length === 0).map(({ row }) => row),
  };
}
