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
