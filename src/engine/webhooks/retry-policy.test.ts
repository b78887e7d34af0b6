import { describe, expect, test } from "vitest";
import type { OutboundAnswer } from "../outbound/call-out.ts";
import { deliveryAfter, type Health, healthAfter, RETRY_DEFAULTS } from "./retry-policy.ts";

const NOW = 1_000_000_000;
const DAY = 86_400_000;
const HEALTHY: Health = { failures: 0 };
const answered = (status: number): OutboundAnswer => ({ status, body: Buffer.alloc(0), cut: false });
const silence: OutboundAnswer = { failure: "no answer" };
const at = (nowMs = NOW, chance = 0.5) => ({ nowMs, chance });
const health = (before: Health, answer: OutboundAnswer, nowMs = NOW) =>
  healthAfter(before, answer, RETRY_DEFAULTS, at(nowMs));
const delivery = (attempts: number, answer: OutboundAnswer, now: Health | undefined = HEALTHY, chance = 0.5) =>
  deliveryAfter(attempts, answer, now, RETRY_DEFAULTS, at(NOW, chance));

describe("a delivery", () => {
  test.each([200, 201, 204, 299])("is done when the receiver answers %i", (status) => {
    expect(delivery(2, answered(status))).toEqual({ state: "delivered", attempts: 3, lastStatus: status });
  });

  test.each([101, 199, 300, 301, 307, 400, 401, 404, 410, 429, 500, 503])("is tried again after %i", (status) => {
    expect(delivery(0, answered(status))).toMatchObject({ state: "pending", attempts: 1, lastStatus: status });
  });

  test("waits four times as long after each attempt, at most an hour, and is dead after the eighth", () => {
    const waits = [0, 1, 2, 3, 4, 5, 6].map((attempts) => (delivery(attempts, silence).nextAtMs ?? 0) - NOW);
    expect(waits).toEqual([1000, 4000, 16_000, 64_000, 256_000, 1_024_000, 3_600_000]);
    expect(delivery(7, silence)).toEqual({ state: "dead", attempts: 8, lastError: "no answer" });
  });

  test("comes back at a time of its own, a fifth sooner or later", () => {
    expect([0, 1].map((chance) => (delivery(0, silence, HEALTHY, chance).nextAtMs ?? 0) - NOW)).toEqual([800, 1200]);
  });

  test("does not come back before its webhook may be tried, and never to one that is disabled", () => {
    expect(delivery(0, silence, { failures: 4, circuitUntilMs: NOW + 30_000 })).toMatchObject({
      nextAtMs: NOW + 30_000,
    });
    expect(delivery(0, silence, { failures: 100, disabledAtMs: NOW })).toMatchObject({ state: "dead", attempts: 1 });
  });
});

describe("a webhook", () => {
  test("has its circuit opened by the fourth failure in a row, for longer with each further one, at most an hour", () => {
    let now = HEALTHY;
    let nowMs = NOW;
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 13; i++) {
      now = health(now, silence, nowMs);
      waits.push(now.circuitUntilMs === undefined ? undefined : now.circuitUntilMs - nowMs);
      nowMs = now.circuitUntilMs ?? nowMs;
    }
    const minutes = [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60].map((each) => each * 60_000);
    expect(waits).toEqual([undefined, undefined, undefined, ...minutes]);
    expect(now).toMatchObject({ failures: 13, failingSinceMs: NOW });
  });

  test("is not held responsible twice: what fails while its circuit is open was under way before", () => {
    const open: Health = { failures: 4, failingSinceMs: NOW, circuitUntilMs: NOW + 30_000 };
    expect(health(open, silence, NOW + 1)).toEqual(open);
    expect(health(open, answered(410), NOW + 1)).toMatchObject({ failures: 5, disabledAtMs: NOW + 1 });
  });

  test("is well again after one success", () => {
    expect(health({ failures: 9, failingSinceMs: 1, circuitUntilMs: 2 }, answered(204))).toEqual({ failures: 0 });
  });

  test("is disabled after a hundred failures in a row over seven days, not sooner on either count", () => {
    const failing = (failures: number, forMs: number) =>
      health({ failures: failures - 1, failingSinceMs: NOW - forMs }, answered(500)).disabledAtMs;
    expect(failing(100, 7 * DAY)).toBe(NOW);
    expect(failing(99, 8 * DAY)).toBeUndefined();
    expect(failing(500, 7 * DAY - 1)).toBeUndefined();
  });

  test("is disabled at once by 410, and stays so whatever is answered to what was under way", () => {
    const gone = health(HEALTHY, answered(410));
    expect(gone.disabledAtMs).toBe(NOW);
    expect(health(gone, answered(200), NOW + 5).disabledAtMs).toBe(NOW);
    expect(health(gone, answered(410), NOW + 5).disabledAtMs).toBe(NOW);
  });
});
