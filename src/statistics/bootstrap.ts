import { setImmediate as nextTurn } from "node:timers/promises";
import type { Interval } from "./wilson.ts";

export const RESAMPLES = 10_000;

/** Values drawn without a pause: about 10 ms. */
const DRAWS_AT_ONCE = 2_000_000;

/**
 * The percentile interval of 95 % of the mean of `values`, from 10,000 samples of the same size drawn with replacement. The order
 * of the values does not matter: they are sorted first, so that the seed alone decides.
 */
export function bootstrapMean(values: readonly number[], seed: number): Interval | null {
  const count = values.length;
  if (count === 0) return null;
  const sorted = Float64Array.from(values).sort();
  // Rounding would otherwise give a mean of equal values some width.
  if (sorted[0] === sorted[count - 1]) return { low: sorted[0] as number, high: sorted[0] as number };
  const isLong = count * RESAMPLES > DRAWS_AT_ONCE;
  if (isLong && prepared !== undefined) return prepared.next(() => resampling(sorted, seed));
  const steps = resampling(sorted, seed);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Yields where a caller may pause. */
function* resampling(sorted: Float64Array, seed: number): Generator<void, Interval> {
  const count = sorted.length;
  const random = new Random(seed);
  const words = new Uint32Array(count);
  const scale = indexScale(count);
  const means = new Float64Array(RESAMPLES);
  const samplesAtOnce = Math.max(1, Math.floor(DRAWS_AT_ONCE / count));
  for (let resample = 0; resample < RESAMPLES; resample++) {
    random.fill(words);
    let sum = 0;
    for (let i = 0; i < count; i++) sum += sorted[((words[i] as number) * scale) | 0] as number;
    means[resample] = sum / count;
    if ((resample + 1) % samplesAtOnce === 0) yield;
  }
  return percentiles(means);
}

/** Thrown through figures that need an interval which takes long. They are computed again once the interval is known. */
class LongResampling extends Error {
  override readonly name = "LongResampling";
  readonly steps: Generator<void, Interval>;

  constructor(steps: Generator<void, Interval>) {
    super("the interval takes long to resample");
    this.steps = steps;
  }
}

/** Intervals that were resampled with pauses, in the order in which the figures ask for them. */
class PreparedIntervals {
  readonly #known: Interval[] = [];
  #asked = 0;

  next(steps: () => Generator<void, Interval>): Interval {
    const known = this.#known[this.#asked++];
    if (known === undefined) throw new LongResampling(steps());
    return known;
  }

  /** The figures, or the interval that they lack. */
  attempt<T>(compute: () => T): { readonly figures: T } | LongResampling {
    this.#asked = 0;
    const before = prepared;
    prepared = this;
    try {
      return { figures: compute() };
    } catch (error) {
      if (error instanceof LongResampling) return error;
      throw error;
    } finally {
      prepared = before;
    }
  }

  async prepare({ steps }: LongResampling): Promise<void> {
    for (;;) {
      const step = steps.next();
      if (step.done) {
        this.#known.push(step.value);
        return;
      }
      await nextTurn();
    }
  }
}

let prepared: PreparedIntervals | undefined;

/**
 * Figures with their intervals, for a process that has other work too: the intervals of thousands of tasks take seconds, and are resampled
 * with pauses. The figures follow from their arguments alone, so that they ask for the same intervals in the same order each time.
 */
export async function resampledInTurns<T>(compute: () => T): Promise<T> {
  const intervals = new PreparedIntervals();
  for (;;) {
    const attempt = intervals.attempt(compute);
    if (!(attempt instanceof LongResampling)) return attempt.figures;
    await intervals.prepare(attempt);
    await nextTurn();
  }
}

/** The middle 95 % of what was resampled, between two neighbours by linear interpolation. Sorts in place. */
export function percentiles(resampled: Float64Array): Interval {
  resampled.sort();
  return { low: quantile(resampled, 0.025), high: quantile(resampled, 0.975) };
}

function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (place - below);
}

/**
 * xoshiro128** (Blackman and Vigna), seeded by splitmix32. The same seed gives the same words on every machine, so a figure
 * that was resampled can be computed again. Words come in blocks: the state then stays in registers, which is what makes
 * fifty million draws a matter of a fraction of a second.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    let mixed = seed >>> 0;
    const next = () => {
      mixed = (mixed + 0x9e3779b9) | 0;
      let word = mixed ^ (mixed >>> 16);
      word = Math.imul(word, 0x21f0aaad);
      word ^= word >>> 15;
      word = Math.imul(word, 0x735a2d97);
      return word ^ (word >>> 15);
    };
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next();
  }

  fill(words: Uint32Array): void {
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let d = this.#d;
    for (let i = 0; i < words.length; i++) {
      const five = Math.imul(b, 5);
      words[i] = Math.imul((five << 7) | (five >>> 25), 9);
      const shifted = b << 9;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = (d << 11) | (d >>> 21);
    }
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }
}

/** `index = word * indexScale(n)`, cut off, is below n; the bias is n in 2³², far below what resampling itself leaves open. */
export function indexScale(count: number): number {
  return count / 4_294_967_296;
}
