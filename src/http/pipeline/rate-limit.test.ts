import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { rateLimit } from "./rate-limit.ts";

function limited(perSecond: number) {
  const clock = { nowMs: 1_000_000 };
  const limit = rateLimit(perSecond, () => clock.nowMs);
  if (!limit) throw new Error("no limit");
  const allowed = (key: string) => {
    try {
      limit(key);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === "rate_limited") return Number(error.details["retryAfterMs"]);
      throw error;
    }
  };
  return { clock, allowed };
}

describe("a rate limit", () => {
  test("is none unless it is set", () => {
    expect(rateLimit(0, Date.now)).toBeUndefined();
  });

  test("lets a second's worth through at once and then says how long to wait", () => {
    const { allowed } = limited(4);
    expect([1, 2, 3, 4].map(() => allowed("a"))).toEqual([true, true, true, true]);
    expect(allowed("a")).toBe(250);
  });

  test("fills up evenly", () => {
    const { clock, allowed } = limited(4);
    for (let i = 0; i < 4; i++) allowed("a");
    clock.nowMs += 100;
    expect(allowed("a")).toBe(150);
    clock.nowMs += 150;
    expect(allowed("a")).toBe(true);
  });

  test("is one per key", () => {
    const { allowed } = limited(1);
    expect([allowed("a"), allowed("b"), allowed("a")]).toEqual([true, true, 1000]);
  });

  test("holds nobody off when the clock is set back", () => {
    const { clock, allowed } = limited(2);
    allowed("a");
    clock.nowMs -= 3_600_000;
    expect(allowed("a")).toBe(true);
  });

  test("forgets keys that have not asked for a while, and only those", () => {
    const { clock, allowed } = limited(1);
    for (let i = 0; i < 9999; i++) allowed(`key-${i}`);
    clock.nowMs += 999;
    allowed("late");
    clock.nowMs += 1;
    allowed("one more");
    expect(allowed("late")).toBe(999);
    expect(allowed("key-1")).toBe(true);
  });
});
