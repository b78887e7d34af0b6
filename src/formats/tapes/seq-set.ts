/**
 * The numbers of a tape's events, exact to 64 bits, as runs of consecutive numbers: a tape that is numbered without gaps takes no memory,
 * one without consecutive numbers 32 bytes per event. Queries come after the last number has been added.
 */
export class SeqSet {
  #firsts = new BigUint64Array(16);
  #lasts = new BigUint64Array(16);
  #runs = 0;
  #isSorted = true;
  /** The run that is growing. */
  #first = 0n;
  #last = -1n;
  /** Runs as doubles: exact enough for numbers that are exact as doubles, and much faster to compare. */
  #near: { readonly firsts: Float64Array; readonly lasts: Float64Array } | undefined;
  #hit = 0;

  add(seq: bigint): void {
    if (seq === this.#last + 1n && this.#last >= 0n) {
      this.#last = seq;
      return;
    }
    if (seq >= this.#first && seq <= this.#last) return;
    this.#keep();
    this.#first = seq;
    this.#last = seq;
  }

  /** The greatest, or `null` when there is none. */
  get last(): bigint | null {
    this.#seal();
    return this.#runs === 0 ? null : (this.#lasts[this.#runs - 1] as bigint);
  }

  /** The greatest number as a bound for safe integers: infinite when it is not safe itself, or there is none. */
  get lastNumber(): number {
    const { lasts } = this.#near ?? this.#seal();
    const last = lasts[lasts.length - 1] ?? Number.POSITIVE_INFINITY;
    return Number.isSafeInteger(last) ? last : Number.POSITIVE_INFINITY;
  }

  has(seq: bigint): boolean {
    this.#seal();
    let low = 0;
    let high = this.#runs - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if ((this.#lasts[middle] as bigint) < seq) low = middle + 1;
      else if ((this.#firsts[middle] as bigint) > seq) high = middle - 1;
      else return true;
    }
    return false;
  }

  /** `has` for a safe integer. */
  hasNumber(seq: number): boolean {
    const { firsts, lasts } = this.#near ?? this.#seal();
    // Rows mostly come in the order of their events.
    if (seq >= (firsts[this.#hit] ?? Number.NaN) && seq <= (lasts[this.#hit] ?? Number.NaN)) return true;
    let low = 0;
    let high = firsts.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if ((lasts[middle] as number) < seq) low = middle + 1;
      else if ((firsts[middle] as number) > seq) high = middle - 1;
      else {
        this.#hit = middle;
        return true;
      }
    }
    return false;
  }

  #keep(): void {
    if (this.#last < 0n) return;
    if (this.#runs > 0 && (this.#lasts[this.#runs - 1] as bigint) >= this.#first) this.#isSorted = false;
    if (this.#runs === this.#firsts.length) {
      this.#firsts = doubled(this.#firsts);
      this.#lasts = doubled(this.#lasts);
    }
    this.#firsts[this.#runs] = this.#first;
    this.#lasts[this.#runs] = this.#last;
    this.#runs++;
  }

  #seal() {
    if (this.#near) return this.#near;
    this.#keep();
    if (!this.#isSorted) this.#merge();
    this.#near = {
      firsts: Float64Array.from(this.#firsts.subarray(0, this.#runs), Number),
      lasts: Float64Array.from(this.#lasts.subarray(0, this.#runs), Number),
    };
    return this.#near;
  }

  /** Starts and ends are sorted separately: a number is inside when more runs have started than ended before it. */
  #merge(): void {
    const firsts = this.#firsts.subarray(0, this.#runs).sort();
    const lasts = this.#lasts.subarray(0, this.#runs).sort();
    let runs = 0;
    let first = firsts[0] as bigint;
    for (let i = 1; i <= firsts.length; i++) {
      const last = lasts[i - 1] as bigint;
      if (i < firsts.length && (firsts[i] as bigint) <= last) continue;
      const next = firsts[i] ?? 0n;
      firsts[runs] = first;
      lasts[runs] = last;
      runs++;
      first = next;
    }
    this.#runs = runs;
  }
}

export function compareSeq(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function doubled(numbers: BigUint64Array): BigUint64Array<ArrayBuffer> {
  const more = new BigUint64Array(numbers.length * 2);
  more.set(numbers);
  return more;
}
