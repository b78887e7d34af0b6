import { describe, expect, test } from "vitest";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import { tokenKeys } from "./interrupt-token.ts";
import { tokenEndMs } from "./shown-gates.ts";

const NOON = Date.UTC(2027, 2, 1, 12);
const HOUR = 3_600_000;

/** How long a token is good that is handed out then, when tokens are good for so long. */
function goodFor(ttlMs: number, atMs: number, deadlineMs?: number): number {
  const nowMs = () => atMs;
  const tokens = tokenKeys({ keys: [{ kid: "host", secret: "x".repeat(32) }], nowMs, ttlMs });
  return tokenEndMs({ tokens, nowMs }, (deadlineMs === undefined ? {} : { deadlineMs }) as Interrupt) - atMs;
}

describe("a token that is handed out", () => {
  test("is good for the usual time, however long its interrupt may wait", () => {
    expect(goodFor(HOUR, NOON)).toBe(HOUR);
    expect(goodFor(HOUR, NOON, NOON + 30 * 24 * HOUR)).toBe(HOUR);
  });

  test("ends with its interrupt when that is sooner", () => {
    expect(goodFor(HOUR, NOON, NOON + 1000)).toBe(1000);
  });

  test.each([1000, 30_000, 60_000, HOUR])("of %i ms is never over before it is read", (ttlMs) => {
    for (const sinceNoonMs of [0, 1, 499, 29_999, 59_999]) {
      expect(goodFor(ttlMs, NOON + sinceNoonMs)).toBeGreaterThanOrEqual(ttlMs / 2);
      expect(goodFor(ttlMs, NOON + sinceNoonMs)).toBeLessThanOrEqual(ttlMs);
    }
  });
});
