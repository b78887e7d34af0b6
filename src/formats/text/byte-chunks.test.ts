import { expect, test } from "vitest";
import { GrowingBytes } from "./byte-chunks.ts";

test("bytes that come one by one are held in one buffer of no more than twice their size", () => {
  const grown = new GrowingBytes(1_000_000);
  const most: number[] = [];
  for (let i = 0; i < 100_000; i++) {
    grown.add(Buffer.of(i % 251));
    if (i > 5000) most.push(grown.capacity / grown.size);
  }
  expect(Math.max(...most)).toBeLessThanOrEqual(2);
  expect(grown.bytes.equals(Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251)))).toBe(true);
});

test("the buffer does not grow beyond the limit", () => {
  const grown = new GrowingBytes(10_000);
  for (let i = 0; i < 10_000; i++) grown.add(Buffer.of(1));
  expect(grown.capacity).toBe(10_000);
});

test("bytes that come in one chunk are not copied", () => {
  const chunk = Buffer.from("text");
  const grown = new GrowingBytes(10);
  grown.add(chunk);
  expect(grown.bytes).toBe(chunk);
});
