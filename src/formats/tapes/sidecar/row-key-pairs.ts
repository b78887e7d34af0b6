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

/**
 * Which rows of a file are which known ones. Nothing keeps a file from having the same id, or the same line, twice: among rows of one
 * key those that say the same belong together, and then the others in their order.
 */
export function pairRows<R extends Pick<KnownRow, "key" | "text">, K extends KnownRow>(
  rows: readonly R[],
  known: readonly K[],
): Map<R, K> {
  const pairs = new Map<R, K>();
  const inOrder = [...known].sort((a, b) => ORDER[a.state] - ORDER[b.state]);
  pairBy(({ key, text }) => `${key}\n${text}`, rows, inOrder, pairs);
  const taken = new Set(pairs.values());
  const otherRows = rows.filter((row) => !pairs.has(row));
  const otherKnown = inOrder.filter((one) => !taken.has(one));
  pairBy(({ key }) => key, otherRows, otherKnown, pairs);
  return pairs;
}

/** In the order of both; a file of nothing but one id takes no longer than any other. */
function pairBy<R extends Pick<KnownRow, "key" | "text">, K extends KnownRow>(
  name: (row: Pick<KnownRow, "key" | "text">) => string,
  rows: readonly R[],
  known: readonly K[],
  pairs: Map<R, K>,
): void {
  const free = new Map<string, K[]>();
  for (const one of known) addTo(free, name(one), one);
  const used = new Map<string, number>();
  for (const row of rows) {
    const called = name(row);
    const at = used.get(called) ?? 0;
    const found = free.get(called)?.[at];
    if (found === undefined) continue;
    pairs.set(row, found);
    used.set(called, at + 1);
  }
}
