import { createBLAKE3 } from "hash-wasm";
import { describe, expect, test } from "vitest";
import { randomText } from "../../../testing/random-json.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { ID_BYTES_MAX, IdSet } from "./id-set.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("a set of ids", () => {
  test("says of each whether it is new, like a set of strings does", async () => {
    for (const seed of [0, 1, 2 ** 32 - 1]) {
      const random = randomFrom(seed);
      const ids = await IdSet.start(seed);
      const strings = new Set<string>();
      for (let i = 0; i < 5000; i++) {
        const id = random() < 0.5 ? `ann_${Math.floor(random() * 3000)}` : randomText(random, 90);
        expect(ids.addText(id)).toBe(!strings.has(id));
        strings.add(id);
      }
      expect(ids.size).toBe(strings.size);
    }
  });

  test("tells ids apart that differ in one byte or in their length", async () => {
    const ids = await IdSet.start();
    for (let length = 0; length <= ID_BYTES_MAX + 4; length++) {
      const id = "x".repeat(length);
      expect([ids.addText(id), ids.addText(id)]).toEqual([true, false]);
      expect([ids.addText(`${id}\u0000`), ids.addText(`${id}\u0000`)]).toEqual([true, false]);
    }
  });

  test("does not take the hash that stands for a long id for an id of its own", async () => {
    const ids = await IdSet.start();
    const long = bytesOf("long".repeat(100));
    const hash = (await createBLAKE3()).init().update(long).digest("binary");
    expect([ids.add(long, 0, long.length), ids.add(hash, 0, hash.length)]).toEqual([true, true]);
    expect([ids.add(long, 0, long.length), ids.add(hash, 0, hash.length)]).toEqual([false, false]);
  });

  test("takes an id from the middle of other bytes", async () => {
    const ids = await IdSet.start();
    const line = bytesOf('{"id":"abc"}');
    expect(ids.add(line, 7, 10)).toBe(true);
    expect(ids.addText("abc")).toBe(false);
  });

  test("finds every one of them again, however many there are and however long", async () => {
    const ids = await IdSet.start();
    const all = Array.from({ length: 30_000 }, (_, i) => `${i}`.padStart(i % ID_BYTES_MAX, "-"));
    for (const id of all) ids.addText(id);
    expect(all.filter((id) => ids.addText(id))).toEqual([]);
  });

  test.each([8, 20, ID_BYTES_MAX, 1000])("keeps an id of %i bytes in about 100", async (length) => {
    const ids = await IdSet.start();
    for (let i = 0; i < 50_000; i++) ids.addText(String(i).padStart(length, "-"));
    expect(ids.size).toBe(50_000);
    expect(ids.sizeBytes / ids.size).toBeLessThan(105);
  });
});
