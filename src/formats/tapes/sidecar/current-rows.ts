import { Chains } from "./chains.ts";
import { EventStretches } from "./event-stretches.ts";
import type { Row, RowKind } from "./sidecar.ts";

type MutableRow = Pick<Row, "event_id" | "kind" | "span">;

export interface MuteSplit<T> {
  readonly heard: readonly T[];
  /** Rows about muted events. */
  readonly muted: readonly T[];
  /** The rows that mute them. */
  readonly mutes: readonly T[];
}

/** Splits rows that no other row replaces; each list keeps their order. */
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
 * Takes the rows of a sidecar in their order, and keeps those of some kinds that no later row replaces. `keep` selects the members
 * that are held: there may be a million rows.
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
    // Rows of all kinds are added: a note may replace a verdict.
    const index = this.#chains.add(row);
    if (row.kind === "mute" || this.#kinds.includes(row.kind)) this.#kept.push({ row: this.#keep(row), index });
  }

  /** In the order of the file, once all have been added. */
  split(): MuteSplit<T> {
    const current = this.#kept.filter(({ index }) => !this.#chains.isReplaced(index)).map(({ row }) => row);
    return splitMuted(current);
  }
}
