import { expect, test } from "vitest";
import { Shutdown } from "./shutdown.ts";

test("what was opened first is closed last, one after the other", async () => {
  const closed: string[] = [];
  const shutdown = new Shutdown();
  for (const name of ["store", "worker", "server"]) {
    shutdown.add(name, async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      closed.push(name);
    });
  }
  await shutdown.run(1000, () => {});
  expect(closed).toEqual(["server", "worker", "store"]);
  await shutdown.run(1000, () => {});
  expect(closed).toHaveLength(3);
});

test("a part that fails is reported and the others close all the same", async () => {
  const closed: string[] = [];
  const failed: string[] = [];
  const shutdown = new Shutdown();
  shutdown.add("store", () => closed.push("store"));
  shutdown.add("worker", () => Promise.reject(new Error("stuck")));
  await shutdown.run(1000, (error, name) => failed.push(`${name}: ${(error as Error).message}`));
  expect({ closed, failed }).toEqual({ closed: ["store"], failed: ["worker: stuck"] });
});

test("each part is told what is left of the time", async () => {
  const left: number[] = [];
  const shutdown = new Shutdown();
  shutdown.add("second", (remainingMs) => left.push(remainingMs));
  shutdown.add("first", async (remainingMs) => {
    left.push(remainingMs);
    await new Promise((resolve) => setTimeout(resolve, 60));
  });
  await shutdown.run(50, () => {});
  expect(left[0]).toBeGreaterThan(0);
  expect(left[1]).toBe(0);
});
