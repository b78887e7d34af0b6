import { describe, expect, test } from "vitest";
import { turnsOfOthers } from "../../testing/turns.ts";
import { inTurns, isTurnSpent, ownTurn } from "./pauses.ts";

describe("work that pauses", () => {
  test("goes on in a turn of its own, however many pause at once, in the order in which they asked", async () => {
    const order: number[] = [];
    const seen: number[] = [];
    let turns = 0;
    let isOver = false;
    const tick = () => {
      turns += 1;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    const one = async (place: number) => {
      await ownTurn();
      order.push(place);
      seen.push(turns);
    };
    await Promise.all(Array.from({ length: 20 }, (_, place) => one(place)));
    isOver = true;
    expect(order).toEqual(Array.from({ length: 20 }, (_, place) => place));
    expect(new Set(seen).size).toBe(20);
  });

  test("goes on in turn with others that pause, step by step", async () => {
    const order: string[] = [];
    function* steps(name: string) {
      for (let step = 0; step < 3; step++) {
        order.push(name);
        yield;
      }
    }
    await Promise.all([inTurns(steps("a"), ownTurn), inTurns(steps("b"), ownTurn)]);
    expect(order.join("")).toBe("ababab");
  });

  test("which asks right before it begins shares a turn while that is short, and has a turn of its own afterwards", async () => {
    const turns = turnsOfOthers();
    const work = async () => {
      if (isTurnSpent()) await ownTurn();
      const untilMs = performance.now() + 21;
      while (performance.now() < untilMs);
    };
    await Promise.all(Array.from({ length: 10 }, work));
    expect(turns()).toBeGreaterThanOrEqual(9);
    await new Promise(setImmediate);
    expect([isTurnSpent(), isTurnSpent()]).toEqual([false, false]);
  });
});
