import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { turnsOfOthers } from "../../testing/turns.ts";
import { forEachSubscriber } from "./stream-subscriber.ts";

const MANY = Array.from({ length: 40 }, (_, place) => place);

test("subscribers are given work a few at a time, and a failure is thrown when all have had it", async () => {
  let busy = 0;
  let most = 0;
  const done: number[] = [];
  const work = async (one: number) => {
    busy += 1;
    most = Math.max(most, busy);
    await nextTurn();
    busy -= 1;
    if (one === 3) throw new Error("the third");
    done.push(one);
  };
  await expect(forEachSubscriber(MANY, work)).rejects.toThrow("the third");
  expect(done).toEqual(MANY.filter((one) => one !== 3));
  expect(most).toBeLessThanOrEqual(8);
});

test("other work of the process has its turn between subscribers whose work takes long", async () => {
  const turns = turnsOfOthers();
  await forEachSubscriber(MANY, async () => {
    const untilMs = performance.now() + 4;
    while (performance.now() < untilMs);
  });
  expect(turns()).toBeGreaterThanOrEqual(4);
});
