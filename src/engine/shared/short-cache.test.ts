import { describe, expect, test } from "vitest";
import { sharedReads } from "./short-cache.ts";

function counted() {
  const reads: string[][] = [];
  const get = sharedReads(async (...names: string[]) => {
    reads.push(names);
    return reads.length;
  });
  return { reads, get };
}

describe("a shared read", () => {
  test("serves everybody who asks for the same in one turn", async () => {
    const { reads, get } = counted();
    expect(await Promise.all([get("t", "a"), get("t", "a"), get("t", "b"), get("t", "a")])).toEqual([1, 1, 2, 1]);
    expect(reads).toEqual([
      ["t", "a"],
      ["t", "b"],
    ]);
  });

  test("begins after everybody who shares it has asked", async () => {
    const { reads, get } = counted();
    const first = get("t", "a");
    await Promise.resolve();
    expect(reads).toEqual([]);
    const second = get("t", "a");
    expect(await Promise.all([first, second])).toEqual([1, 1]);
  });

  test("is not kept: whoever asks later, even while one is under way, reads again", async () => {
    let finish: (value: string) => void = () => {};
    let reads = 0;
    const get = sharedReads((_name: string) => {
      reads += 1;
      return new Promise<string>((resolve) => (finish = resolve));
    });
    const slow = get("a");
    while (reads < 1) await new Promise(setImmediate);
    const finishSlow = finish;
    const later = get("a");
    while (reads < 2) await new Promise(setImmediate);
    finish("new");
    finishSlow("old");
    expect([await slow, await later]).toEqual(["old", "new"]);
  });

  test("that fails fails for those who share it and for nobody after", async () => {
    let fails = true;
    const get = sharedReads(async (_name: string) => {
      if (fails) throw new Error("away");
      return "back";
    });
    const both = await Promise.allSettled([get("a"), get("a")]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    fails = false;
    expect(await get("a")).toBe("back");
  });

  test("does not mix up names that run together", async () => {
    const { reads, get } = counted();
    await Promise.all([get("a", "bc"), get("ab", "c")]);
    expect(reads).toHaveLength(2);
  });
});
