import { describe, expect, test } from "vitest";
import { idSource } from "./host.ts";

describe("ids of one process", () => {
  test("sort in the order they were made, within a millisecond and when the clock is set back", () => {
    let now = Date.UTC(2026, 0);
    const newId = idSource(() => now);
    const ids = Array.from({ length: 3000 }, (_, i) => {
      if (i === 1000) now -= 5000;
      if (i === 2000) now += 60_000;
      return newId("run");
    });
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
