import { Chains } from "./chains.ts";
import { EventStretches } from "./event-stretches.ts";
import type { Row, RowKind } from "./sidecar.ts";

type MutableRow = Pick<Row, "event_id" | "kind" | "span">;

export interface MuteSplit<T> {
  readonly heard: readonly T[];
  /** About events that somebody asked to leave alone. */
  readonly muted: readonly T[];
  /** The rows that ask for it. */
  readonly mutes: readonly T[];
}

/** Of rows that nothing replaces, each in its order. */
export function splitMuted<T extends MutableRow>(current: readonly T[]): MuteSplit<T> {
  const mutes = current.filter(({ kind }) => kind === "mute");
  const others = current.filter(({ kind }) => kind !== "mute");
  const events = new EventStretches(mutes);
  return {
    heard: others.filter(({ event_id }) => !events.has(event_id)),
    muted: others.filter(({ event_id }) => events.has(event_id)),
    mutes,
  };
}

/**
 * Takes the rows of a sidecar in their order, and keeps those of some kinds that no later row replaces. `keep` says what of them: there may
 * be a million.
 */
export class CurrentRows<T extends MutableRow> {
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
  split(): MuteSplit<T> {
    const current = this.#kept.filter(({ index }) => !this.#chains.isReplaced(index)).map(({ row }) => row);
    return splitMuted(current);
  }
}
