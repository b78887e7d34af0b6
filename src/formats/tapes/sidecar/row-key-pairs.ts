import type { AnnotationState } from "../../../protocol/judgments/annotation.ts";
import { addTo } from "../../text/groups.ts";

/** A row that is known from before: as it was last written, and what became of it. */
export interface KnownRow {
  readonly key: string;
  readonly text: string;
  readonly state: AnnotationState;
}

/** What still counts comes first, so that a row that was taken back never stands in for one that was not. */
const ORDER: Readonly<Record<AnnotationState, number>> = { live: 0, superseded: 1, retracted: 2 };

export function stillCountingFirst<K extends Pick<KnownRow, "state">>(known: readonly K[]): readonly K[] {
  return [...known].sort((a, b) => ORDER[a.state] - ORDER[b.state]);
}

/**
 * Which rows of a file are which known ones. Nothing keeps a file from having the same id, or the same line, twice: among rows of one
 * key those that say the same belong together, and then the others in their order.
 */
export function pairRows<R extends Pick<KnownRow, "key" | "text">, K extends KnownRow>(
  rows: readonly R[],
  known: readonly K[],
): Map<R, K> {
  const pairs = new Map<R, K>();
  const inOrder = stillCountingFirst(known);
  const whole = ({ key, text }: Pick<KnownRow, "key" | "text">) => `${key}\n${text}`;
  pairBy({ rows, of: whole }, { known: inOrder, of: whole }, pairs);
  pairBy({ rows, of: ({ key }) => key }, { known: inOrder, of: ({ key }) => key }, pairs);
  return pairs;
}

/**
 * Adds pairs of one name among those that have none yet, in the order of both; a file of nothing but one id takes no longer than any
 * other. An empty name is none.
 */
export function pairBy<R, K>(
  { rows, of: nameOf }: { readonly rows: readonly R[]; of(row: R): string },
  { known, of: nameOfKnown }: { readonly known: readonly K[]; of(known: K): string },
  pairs: Map<R, K>,
): void {
  const taken = new Set(pairs.values());
  const free = new Map<string, K[]>();
  for (const one of known) if (!taken.has(one)) addTo(free, nameOfKnown(one), one);
  const used = new Map<string, number>();
  for (const row of rows) {
    if (pairs.has(row)) continue;
    const called = nameOf(row);
    const at = used.get(called) ?? 0;
    const found = called === "" ? undefined : free.get(called)?.[at];
    if (found === undefined) continue;
    pairs.set(row, found);
    used.set(called, at + 1);
  }
}
