import { describe, expect, test } from "vitest";
import { ByteRoom } from "./byte-room.ts";

describe("a room of bytes", () => {
  test("serves those who wait in their order, although a later one would fit", async () => {
    const room = new ByteRoom(10);
    const first = room.takeNow(8);
    const served: string[] = [];
    const large = room.take(9).then((release) => {
      served.push("large");
      release();
    });
    const small = room.take(1).then(() => served.push("small"));
    expect(room.takeNow(1)).toBeUndefined();
    expect(served).toEqual([]);
    first?.();
    await Promise.all([large, small]);
    expect(served).toEqual(["large", "small"]);
    expect(room.used).toBe(1);
  });

  test("gives everything to one who wants more than there is, when nobody else has any", async () => {
    const room = new ByteRoom(10);
    const release = await room.take(1000);
    expect(room.used).toBe(10);
    release();
    release();
    expect(room.used).toBe(0);
  });

  test("lets go of one who gives up, and serves the next", async () => {
    const room = new ByteRoom(10);
    const held = room.takeNow(5);
    const next = room.takeWithin(10, 1);
    const after = room.take(5);
    expect(await next).toBeUndefined();
    (await after)();
    held?.();
    expect([room.used, room.waiting]).toEqual([0, 0]);
  });
});
