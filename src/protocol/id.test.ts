import { describe, expect, test } from "vitest";
import { formatId, isId, timeOfId } from "./id.ts";

describe("an id", () => {
  test("sorts by time", () => {
    const bytes = new Uint8Array(10).fill(255);
    const ids = [0, 1, 31, 32, 1_000_000, Date.UTC(2026, 0), Date.UTC(2300, 0)].map((at) => formatId("run", at, bytes));
    expect([...ids].sort()).toEqual(ids);
  });

  test("uses every random bit", () => {
    const at = Date.UTC(2026, 0);
    const seen = new Set<string>();
    for (let byte = 0; byte < 10; byte++) {
      for (let bit = 0; bit < 8; bit++) {
        const bytes = new Uint8Array(10);
        bytes[byte] = 1 << bit;
        seen.add(formatId("run", at, bytes));
      }
    }
    expect(seen.size).toBe(80);
  });

  test("is recognised by its shape", () => {
    expect(isId(formatId("evt", 1, new Uint8Array(10)))).toBe(true);
    for (const text of ["", "run-1", "run-0000000000000000000000000O", "run-1:nope", "../etc"])
      expect(isId(text)).toBe(false);
  });

  test("tells when it was made, to the millisecond", () => {
    const bytes = new Uint8Array(10).fill(255);
    for (const at of [0, 31, 32, Date.UTC(2027, 2, 1) + 7, 2 ** 48 - 1]) {
      expect(timeOfId(formatId("ann", at, bytes))).toBe(at);
    }
    for (const text of ["", "ann-1", "ann", "01k4zzzzzzzzzzzzzzzzzzzzzz"]) expect(timeOfId(text)).toBeUndefined();
  });
});
