import { describe, expect, test } from "vitest";
import { SuiteRoom } from "./suite-room.ts";

const LARGE = 1_000_000;
const never = new AbortController().signal;

/** Whether it is settled once all others had their turn. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("the room of suites", () => {
  test("takes one suite once, however many evaluations have it, and others when it is free", async () => {
    const room = new SuiteRoom(3 * LARGE * 2);
    const first = await room.hold("t1", "a", LARGE, never);
    const again = await room.hold("t1", "a", LARGE, never);
    const other = room.hold("t1", "b", LARGE, never);
    first();
    first();
    expect(await isSettled(other)).toBe(false);
    again();
    expect(await isSettled(other)).toBe(true);
  });

  test("leaves half of it to other tenants, and small suites are free", async () => {
    const room = new SuiteRoom(3 * LARGE * 2);
    const mine = ["a", "b", "c"].map((suite) => room.hold("t1", suite, LARGE, never));
    expect(await isSettled(mine[1] as Promise<unknown>)).toBe(false);
    expect(await isSettled(room.hold("t1", "small", 10_000, never))).toBe(true);
    expect(await isSettled(room.hold("t2", "a", LARGE, never))).toBe(true);
  });

  test("lets a suite larger than the room in alone", async () => {
    const room = new SuiteRoom(LARGE);
    const release = await room.hold("t1", "a", 10 * LARGE, never);
    const next = room.hold("t1", "b", LARGE, never);
    expect(await isSettled(next)).toBe(false);
    release();
    expect(await isSettled(next)).toBe(true);
  });

  test("is not waited for by an evaluation that was cancelled, which leaves it to the next one", async () => {
    const room = new SuiteRoom(3 * LARGE * 2);
    const release = await room.hold("t1", "a", LARGE, never);
    const cancelled = new AbortController();
    const second = room.hold("t1", "b", LARGE, cancelled.signal);
    const third = room.hold("t1", "c", LARGE, never);
    cancelled.abort(new Error("cancelled"));
    await expect(second).rejects.toThrow("cancelled");
    release();
    await third;
  });
});
