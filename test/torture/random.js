// @ts-check

/**
 * Numbers that follow from a seed, so that a run can be asked for again. What the machine does between two draws
 * does not follow from it: the same seed gives the same intentions, not the same interleaving.
 */
export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to but not including 1 (mulberry32). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /**
   * A whole number, both ends included.
   * @param {number} from
   * @param {number} to
   */
  between(from, to) {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** @param {number} probability */
  chance(probability) {
    return this.next() < probability;
  }

  /**
   * @template T
   * @param {readonly T[]} choices
   * @returns {T}
   */
  pick(choices) {
    return /** @type {T} */ (choices[this.between(0, choices.length - 1)]);
  }

  /**
   * @template T
   * @param {readonly (readonly [number, T])[]} choices with their weights
   * @returns {T}
   */
  weighted(choices) {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    return this.pick(choices)[1];
  }

  /** A generator of its own, whose numbers do not depend on how many were drawn here afterwards. */
  fork() {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
