import { describe, expect, test } from "vitest";
import { randomInteger } from "../../testing/random-json.ts";
import { pick, randomFrom } from "../../testing/random-workflow.ts";
import { SeqSet } from "./seq-set.ts";

const MOST = 2n ** 64n - 1n;

function setOf(...seqs: bigint[]): SeqSet {
  const set = new SeqSet();
  for (const seq of seqs) set.add(seq);
  return set;
}

describe("the numbers of a tape's events", () => {
  test("are the ones that were added, whatever their order", () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = randomFrom(seed);
      const near = BigInt(Math.floor(random() * 40));
      const start = pick(random, [0n, near, 2n ** 53n - 20n, MOST - 200n]);
      const seqs = Array.from({ length: 120 }, (_, i) => {
        if (random() < 0.7) return start + BigInt(i);
        return random() < 0.5 ? start + BigInt(Math.floor(random() * 150)) : randomInteger(random, 0n, MOST);
      });
      const plain = new Set(seqs);
      const set = setOf(...seqs);
      for (const seq of [...seqs, ...seqs.map((one) => one + 1n), ...seqs.map((one) => one - 1n)]) {
        if (seq < 0n) continue;
        expect(set.has(seq)).toBe(plain.has(seq));
        if (seq <= BigInt(Number.MAX_SAFE_INTEGER)) expect(set.hasNumber(Number(seq))).toBe(plain.has(seq));
      }
      expect(set.last).toBe([...plain].reduce((a, b) => (a > b ? a : b)));
    }
  });

  test("are told apart beyond what a double holds", () => {
    const set = setOf(2n ** 53n, 2n ** 53n + 2n, MOST);
    expect([set.has(2n ** 53n), set.has(2n ** 53n + 1n), set.has(MOST), set.has(MOST - 1n)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(set.hasNumber(Number.MAX_SAFE_INTEGER)).toBe(false);
  });

  test("may be none, and then there is no last one", () => {
    const set = new SeqSet();
    expect([set.last, set.has(0n), set.hasNumber(0)]).toEqual([null, false, false]);
  });

  test("bound a span by their greatest, which need not be the last of the file", () => {
    expect(setOf(7n, 3n).lastNumber).toBe(7);
    expect(setOf(MOST).lastNumber).toBe(Number.POSITIVE_INFINITY);
    expect(new SeqSet().lastNumber).toBe(Number.POSITIVE_INFINITY);
  });
});
