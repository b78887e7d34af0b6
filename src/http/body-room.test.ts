import { describe, expect, test } from "vitest";
import { BodyRoom } from "./body-room.ts";

const KB = 1024;

describe("the room for bodies", () => {
  test("lets large bodies in as others are done, in order", async () => {
    const room = new BodyRoom({ totalBytes: 1000 * KB, waitMs: 60_000 });
    const first = await room.take(100 * KB);
    const order: string[] = [];
    const second = room.take(60 * KB).then((release) => {
      order.push("second");
      return release;
    });
    const third = room.take(20 * KB).then(() => order.push("third"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    first();
    (await second)();
    await third;
    expect(order).toEqual(["second", "third"]);
  });

  test("refuses one that has waited for too long, and one larger than all of it comes in alone", async () => {
    const room = new BodyRoom({ totalBytes: 100 * KB, waitMs: 1 });
    const release = await room.take(1000 * KB);
    await expect(room.take(100 * KB)).rejects.toMatchObject({ code: "unavailable" });
    release();
    await expect(room.take(100 * KB)).resolves.toBeTypeOf("function");
  });

  test("lets small bodies in at any time", async () => {
    const room = new BodyRoom({ totalBytes: 1, waitMs: 60_000 });
    await room.take(1000 * KB);
    await expect(room.take(10 * KB)).resolves.toBeTypeOf("function");
  });
});
