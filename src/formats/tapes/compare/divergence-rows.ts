import { lowerBound } from "../../text/lower-bound.ts";
import { compareSeq } from "../seq-set.ts";
import { Chains, EventStretches, type Stretch, stretchOf } from "../sidecar/current-rows.ts";
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
    this.#seqs = [...seqs].sort(compareSeq);
  }

  add(row: Row): void {
    const index = this.#chains.add(row);
    const stretch = stretchOf(row);
    const next = this.#seqs[lowerBound(this.#seqs.length, (i) => (this.#seqs[i] as bigint) >= stretch.first)];
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
    const muted = new EventStretches(mutes.map(({ row }) => row));
    return new Set(this.#seqs.filter((seq) => muted.has(seq)));
  }
}

/** An event that only the replay has may share its number with one of the recording, and is another one. */
export function isOfRecording(divergence: Divergence): divergence is Divergence & { readonly seq: bigint } {
  return divergence.seq !== null && divergence.recorded !== null;
}
