import { compareUtf8 } from "../../json/print-json.ts";
import { lowerBound } from "../../text/lower-bound.ts";
import { compareSeq } from "../seq-set.ts";
import type { Anchor } from "../sidecar/sidecar.ts";
import type { TapeRecord } from "../tape.ts";
import { actionOf, signatureOf } from "./actions.ts";

/** In place of the signature of an unknown action. */
const GAP = -1;

/** Signatures by number: a tape may have a hundred thousand actions and only a few different ones. */
export class Signatures {
  readonly #numbers = new Map<string, number>();
  readonly #texts: string[] = [];

  numberOf(signature: string): number {
    const known = this.#numbers.get(signature);
    if (known !== undefined) return known;
    this.#numbers.set(signature, this.#texts.length);
    this.#texts.push(signature);
    return this.#texts.length - 1;
  }

  get count(): number {
    return this.#texts.length;
  }

  textOf(number: number): string {
    return this.#texts[number] as string;
  }

  /** The place of each number in the order of the texts. */
  ranks(): Int32Array {
    const order = this.#texts.map((_, number) => number).sort((a, b) => compareUtf8(this.textOf(a), this.textOf(b)));
    const ranks = new Int32Array(order.length);
    for (const [rank, number] of order.entries()) ranks[number] = rank;
    return ranks;
  }
}

/** The actions of one tape, in their order. */
export interface Trace {
  readonly path: string;
  readonly signatures: Int32Array;
  /** Which record of the tape each action is, from 0. */
  readonly places: Uint32Array;
  readonly anchored: readonly AnchoredActions[];
}

/** Actions next to each other that an anchor is about. */
export interface AnchoredActions {
  readonly anchor: Anchor;
  readonly from: number;
  /** Not in it any more; undefined when the anchor only says where something begins. */
  readonly to?: number;
}

/** Takes the records of a tape in the order of the file. */
export class TraceBuilder {
  readonly #path: string;
  readonly #signatures: Signatures;
  readonly #anchors: readonly Anchor[];
  readonly #numbers: number[] = [];
  readonly #places: number[] = [];
  readonly #seqs: bigint[] = [];
  #records = 0;

  constructor(path: string, signatures: Signatures, anchors: readonly Anchor[]) {
    this.#path = path;
    this.#signatures = signatures;
    this.#anchors = anchors;
  }

  add(record: TapeRecord): void {
    const place = this.#records++;
    const action = actionOf(record);
    if (action === undefined) return;
    this.#numbers.push(action === "gap" ? GAP : this.#signatures.numberOf(signatureOf(action)));
    this.#places.push(place);
    if (this.#anchors.length > 0) this.#seqs.push(record.seq);
  }

  finish(): Trace {
    return {
      path: this.#path,
      signatures: Int32Array.from(this.#numbers),
      places: Uint32Array.from(this.#places),
      anchored: anchoredActions(this.#anchors, this.#seqs),
    };
  }
}

/** Numbers of events need not be in order, so what an anchor covers may lie in several runs. */
function anchoredActions(anchors: readonly Anchor[], seqs: readonly bigint[]): AnchoredActions[] {
  const order = seqs.map((_, i) => i).sort((a, b) => compareSeq(seqs[a] as bigint, seqs[b] as bigint) || a - b);
  const firstAt = (seq: bigint) => lowerBound(order.length, (i) => (seqs[order[i] as number] as bigint) >= seq);
  return anchors.flatMap((anchor): AnchoredActions[] => {
    const first = firstAt(anchor.event_id);
    if (anchor.end_event_id <= anchor.event_id) {
      const from = order[first];
      return from === undefined ? [] : [{ anchor, from }];
    }
    const covered = order.slice(first, firstAt(anchor.end_event_id + 1n)).sort((a, b) => a - b);
    return runsOf(covered).map((run) => ({ anchor, ...run }));
  });
}

function runsOf(ascending: readonly number[]): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const index of ascending) {
    const last = runs.at(-1);
    if (last?.to === index) last.to++;
    else runs.push({ from: index, to: index + 1 });
  }
  return runs;
}
