import { Chains } from "../sidecar/chains.ts";
import { MutedEvents, type Stretch, stretchOf } from "../sidecar/muted-events.ts";
import type { Row } from "../sidecar/sidecar.ts";
import type { Divergence } from "./compare-records.ts";
import type { ComparisonReport } from "./compare-tapes.ts";

/**
 * The rows of a sidecar of the recording that speak of events on which the replay diverges. A row with a span speaks of every event
 * in it. Rows are added in the order of the file, and those about other events are forgotten.
 */
export class DivergenceRows {
  /** Sorted, without repeats. */
  readonly #seqs: readonly bigint[];
  readonly #chains = new Chains();
  readonly #kept: { readonly row: Row; readonly index: number; readonly stretch: Stretch }[] = [];

  constructor({ divergences }: ComparisonReport) {
    const seqs = new Set<bigint>();
    for (const one of divergences) if (isOfRecording(one)) seqs.add(one.seq);
    this.#seqs = [...seqs].sort((a, b) => (a < b ? -1 : 1));
  }

  add(row: Row): void {
    const index = this.#chains.add(row);
    const stretch = stretchOf(row);
    const next = this.#seqs[firstFrom(this.#seqs, stretch.first)];
    if (next !== undefined && next <= stretch.last) this.#kept.push({ row, index, stretch });
  }

  get rows(): readonly Row[] {
    return this.#kept.map(({ row }) => row);
  }

  on(divergence: Divergence): readonly Row[] {
    if (!isOfRecording(divergence)) return [];
    const { seq } = divergence;
    return this.#kept.filter(({ stretch }) => stretch.first <= seq && seq <= stretch.last).map(({ row }) => row);
  }

  /** The diverging events that are muted, unless a later row has taken the place of the one that says so. */
  muted(): ReadonlySet<bigint> {
    const mutes = this.#kept.filter(({ row, index }) => row.kind === "mute" && !this.#chains.isReplaced(index));
    const muted = new MutedEvents(mutes.map(({ row }) => row));
    return new Set(this.#seqs.filter((seq) => muted.has(seq)));
  }
}

/** An event that only the replay has may share its number with one of the recording, and is another one. */
export function isOfRecording(divergence: Divergence): divergence is Divergence & { readonly seq: bigint } {
  return divergence.seq !== null && divergence.recorded !== null;
}

/** Where in a sorted list the first value stands that is not below this one. */
function firstFrom(sorted: readonly bigint[], least: bigint): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as bigint) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
