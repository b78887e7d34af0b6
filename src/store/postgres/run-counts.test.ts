import { describe, expect, it } from "vitest";
import { RunCounting } from "./run-counts.ts";

const SENDER = "00000041-0000-4000-8000-000000000000";
const LIMIT = 100_000;

function countingAt(clock: { nowMs: number }): RunCounting {
  return new RunCounting(SENDER, () => clock.nowMs);
}

describe("what a host remembers about the counts of runs", () => {
  it("keeps its count of a tenant in one of 64 rows, by its own id", () => {
    expect(new RunCounting(SENDER).shard).toBe(0x41 % 64);
  });

  it("takes a tenant that it has not seen for near its limit", () => {
    const counting = countingAt({ nowMs: 0 });
    expect(counting.lastSeen("acme")).toBeUndefined();
    expect(counting.isDue("acme", LIMIT)).toBe(true);
    expect(counting.isNear("acme", LIMIT)).toBe(true);
  });

  it("reads a count far from its limit once, and again after a while", () => {
    const clock = { nowMs: 1_000 };
    const counting = countingAt(clock);
    counting.remember(new Map([["acme", 3]]));
    expect(counting.lastSeen("acme")).toBe(3);
    expect(counting.isNear("acme", LIMIT)).toBe(false);
    clock.nowMs += 200;
    expect(counting.isDue("acme", LIMIT)).toBe(false);
    clock.nowMs += 1;
    expect(counting.isDue("acme", LIMIT)).toBe(true);
    counting.remember(new Map([["acme", 4]]));
    expect(counting.isDue("acme", LIMIT)).toBe(false);
  });

  it("reads a count near its limit at each batch", () => {
    const counting = countingAt({ nowMs: 0 });
    counting.remember(
      new Map([
        ["far", LIMIT - 10_000],
        ["near", LIMIT - 9_999],
      ]),
    );
    expect(counting.isDue("far", LIMIT)).toBe(false);
    expect(counting.isNear("near", LIMIT)).toBe(true);
    expect(counting.isDue("near", LIMIT)).toBe(true);
  });

  it("forgets the counts of all tenants before it would remember too many", () => {
    const counting = countingAt({ nowMs: 0 });
    counting.remember(new Map(Array.from({ length: 10_001 }, (_, index) => [`tenant-${index}`, 1])));
    counting.remember(new Map([["acme", 1]]));
    expect(counting.lastSeen("tenant-0")).toBeUndefined();
    expect(counting.lastSeen("acme")).toBe(1);
  });
});
