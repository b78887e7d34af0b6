import type { FreeForm } from "../../json/print-json.ts";
import { lowerBound } from "../../text/collections.ts";
import { compareSeq } from "../seq-set.ts";
import { SUPERSEDES } from "./new-row.ts";
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

type LinkedRow = Pick<Row, "id" | "event_id" | "metadata">;

/**
 * Which rows of a sidecar replace which: a row replaces the nearest one above it that is about the same event and has the id that its
 * `metadata.supersedes` names. Since only rows above can be named, no chain is circular; several rows may replace the same one, and
 * all of them are the newest then. A link that names anything else is loose: it replaces nothing, so no row is lost by a wrong one.
 */
export class Chains {
  readonly #byName = new Map<string, number>();
  readonly #earlier = new Map<number, number>();
  readonly #replaced = new Set<number>();
  #count = 0;
  #loose = 0;

  /** Takes the rows in the order of the file, and numbers them from 0. */
  add(row: LinkedRow): number {
    const index = this.#count++;
    const link = row.metadata.get(SUPERSEDES) ?? null;
    if (link !== null) this.#follow(index, link, row);
    if (row.id !== "") this.#byName.set(nameIn(row.event_id, row.id), index);
    return index;
  }

  #follow(index: number, link: FreeForm, { event_id }: LinkedRow): void {
    const earlier = typeof link === "string" ? this.#byName.get(nameIn(event_id, link)) : undefined;
    if (earlier === undefined) {
      this.#loose++;
      return;
    }
    this.#earlier.set(index, earlier);
    this.#replaced.add(earlier);
  }

  /** Whether a row further down replaces this one; known when all have been added. */
  isReplaced(index: number): boolean {
    return this.#replaced.has(index);
  }

  /** The newest rows that came from this one. None when it is not replaced. */
  newestOf(index: number): readonly number[] {
    if (!this.isReplaced(index)) return [];
    return [...this.#earlier.keys()].filter((one) => !this.isReplaced(one) && this.#comesFrom(one, index));
  }

  #comesFrom(later: number, earlier: number): boolean {
    for (let one: number | undefined = later; one !== undefined; one = this.#earlier.get(one)) {
      if (one === earlier) return true;
    }
    return false;
  }

  /** The row that this one replaces. */
  earlierThan(index: number): number | undefined {
    return this.#earlier.get(index);
  }

  /** How many links name no row above on the same event. */
  get loose(): number {
    return this.#loose;
  }

  /** The rows that belong together, by the first of them, as numbers in the order of the file. A row that stands alone is in none. */
  groups(): Map<number, number[]> {
    const groups = new Map<number, number[]>();
    const firsts = new Map<number, number>();
    // In the order of the file, so what an earlier row belongs to is known.
    for (const [index, earlier] of this.#earlier) {
      const first = firsts.get(earlier) ?? earlier;
      firsts.set(index, first);
      const group = groups.get(first);
      if (group) group.push(index);
      else groups.set(first, [first, index]);
    }
    return groups;
  }
}

function nameIn(eventId: bigint, id: string): string {
  return `${eventId} ${id}`;
}

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
