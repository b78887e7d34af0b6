import { describe, expect, test } from "vitest";
import { retryWait } from "./retry-wait.ts";

const waits = { retryMs: 100, retryMaxMs: 5000 };
const now = Date.parse("2026-03-01T12:00:00Z");
const failed = { attempt: 1, now, chance: 0 };

describe("the wait before a call is made again", () => {
  test("doubles with each attempt, up to the longest", () => {
    const each = [1, 2, 3, 20].map((attempt) => retryWait(waits, { ...failed, attempt }));
    expect(each).toEqual([100, 200, 400, 5000]);
  });

  test("is up to a quarter longer by chance", () => {
    expect(retryWait(waits, { ...failed, chance: 1 })).toBe(125);
  });

  test("is what the server asks for, in seconds or as a date", () => {
    expect(retryWait(waits, { ...failed, retryAfter: "3" })).toBe(3000);
    expect(retryWait(waits, { ...failed, retryAfter: "5" })).toBe(5000);
    expect(retryWait(waits, { ...failed, retryAfter: "Sun, 01 Mar 2026 12:00:04 GMT" })).toBe(4000);
  });

  test("is its own when the server asks for less, or for nothing that can be read", () => {
    expect(retryWait(waits, { ...failed, retryAfter: "0" })).toBe(100);
    expect(retryWait(waits, { ...failed, retryAfter: "Sun, 01 Mar 2026 11:00:00 GMT" })).toBe(100);
    expect(retryWait(waits, { ...failed, retryAfter: "soon" })).toBe(100);
  });

  test("is none when the server asks for more than anybody would wait", () => {
    expect(retryWait(waits, { ...failed, retryAfter: "6" })).toBeUndefined();
  });
});
