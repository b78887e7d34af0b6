import { Chains } from "./chains.ts";
import { MutedEvents } from "./muted-events.ts";
import type { Row, RowKind } from "./sidecar.ts";

export interface StandingSplit<T> {
  readonly heard: readonly T[];
  /** About events that somebody asked to leave alone. */
  readonly muted: readonly T[];
}

/**
 * Takes the rows of a sidecar in their order, and keeps those of some kinds that no later row replaces. `keep` says what of them: there may
 * be a million.
 */
export class StandingRows<T extends Pick<Row, "event_id" | "kind" | "span">> {
  readonly #chains = new Chains();
  readonly #kinds: readonly RowKind[];
  readonly #keep: (row: Row) => T;
  readonly #kept: { readonly row: T; readonly index: number }[] = [];

  constructor(kinds: readonly RowKind[], keep: (row: Row) => T) {
    this.#kinds = kinds;
    this.#keep = keep;
  }

  add(row: Row): void {
    // Whatever its kind is: a note may take back a verdict.
    const index = this.#chains.add(row);
    if (row.kind === "mute" || this.#kinds.includes(row.kind)) this.#kept.push({ row: this.#keep(row), index });
  }

  /** In the order of the file, once all have been added. */
  split(): StandingSplit<T> {
    const standing = this.#kept.filter(({ index }) => !this.#chains.isReplaced(index)).map(({ row }) => row);
    const mutes = new MutedEvents(standing.filter(({ kind }) => kind === "mute"));
    const others = standing.filter(({ kind }) => kind !== "mute");
    return {
      heard: others.filter(({ event_id }) => !mutes.has(event_id)),
      muted: others.filter(({ event_id }) => mutes.has(event_id)),
    };
  }
}
