import type { FreeForm } from "../../json/print-json.ts";
import type { Row } from "./sidecar.ts";
import { SUPERSEDES } from "./status-change.ts";

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
