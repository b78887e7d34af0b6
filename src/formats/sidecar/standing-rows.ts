import { Chains } from "./chains.ts";
import { MutedEvents } from "./muted-events.ts";
import type { Row, RowKind } from "./sidecar.ts";

export interface StandingSplit {
  readonly heard: readonly Row[];
  /** About events that somebody asked to leave alone. */
  readonly muted: readonly Row[];
}

/** Takes the rows of a sidecar in their order, and keeps those of some kinds that no later row replaces. */
export class StandingRows {
  readonly #chains = new Chains();
  readonly #kinds: readonly RowKind[];
  readonly #kept: { readonly row: Row; readonly index: number }[] = [];

  constructor(...kinds: readonly RowKind[]) {
    this.#kinds = kinds;
  }

  add(row: Row): void {
    // Whatever its kind is: a note may take back a verdict.
    const index = this.#chains.add(row);
    if (row.kind === "mute" || this.#kinds.includes(row.kind)) this.#kept.push({ row, index });
  }

  /** In the order of the file, once all have been added. */
  split(): StandingSplit {
    const standing = this.#kept.filter(({ index }) => !this.#chains.isReplaced(index)).map(({ row }) => row);
    const mutes = new MutedEvents(standing.filter(({ kind }) => kind === "mute"));
    const others = standing.filter(({ kind }) => kind !== "mute");
    return {
      heard: others.filter(({ event_id }) => !mutes.has(event_id)),
      muted: others.filter(({ event_id }) => mutes.has(event_id)),
    };
  }
}
