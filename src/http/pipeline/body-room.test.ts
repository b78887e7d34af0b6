import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { ArrivalRoom, BodyRoom } from "./body-room.ts";
import { readArchiveBody } from "./read-body.ts";

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

  test("lets in one body in each turn of the event loop, where many arrive together", async () => {
    const room = new BodyRoom({ totalBytes: 100_000 * KB });
    let turns = 0;
    const seen: number[] = [];
    const all = Promise.all(Array.from({ length: 20 }, () => room.take(20 * KB).then(() => seen.push(turns))));
    for (; seen.length < 20 && turns < 1000; turns++) await new Promise((resolve) => setImmediate(resolve));
    await all;
    expect(new Set(seen).size).toBe(20);
  });

  test("lets in a few small bodies at once, and the others in turns of their own", async () => {
    const room = new BodyRoom();
    let turns = 0;
    const seen: number[] = [];
    const all = Promise.all(Array.from({ length: 20 }, () => room.take(8 * KB).then(() => seen.push(turns))));
    for (; seen.length < 20 && turns < 1000; turns++) await new Promise((resolve) => setImmediate(resolve));
    await all;
    expect(seen.filter((turn) => turn === 0).length).toBeLessThan(11);
    expect(new Set(seen).size).toBeGreaterThan(11);
  });

  test("lets small bodies in at any time", async () => {
    const room = new BodyRoom({ totalBytes: 1, waitMs: 60_000 });
    await room.take(1000 * KB);
    await expect(room.take(10 * KB)).resolves.toBeTypeOf("function");
  });

  test("admits a body of another tenant next, however many of one wait", async () => {
    const room = new BodyRoom({ totalBytes: 800 * KB, waitMs: 60_000 });
    const order: string[] = [];
    const asks = async (tenant: string) => {
      const release = await room.take(100 * KB, tenant);
      order.push(tenant);
      setImmediate(release);
    };
    const flood = Array.from({ length: 20 }, () => asks("flooding"));
    const others = [asks("one"), asks("two")];
    await Promise.all([...flood, ...others]);
    expect(order.indexOf("one")).toBeLessThan(3);
    expect(order.indexOf("two")).toBeLessThan(5);
    expect(order.slice(5)).toEqual(Array.from({ length: 17 }, () => "flooding"));
  });

  test("keeps a part from each tenant, so that slow requests of one leave room for others", async () => {
    const room = new BodyRoom({ totalBytes: 800 * KB, waitMs: 20 });
    const releases = await Promise.all([room.take(30 * KB, "slow"), room.take(40 * KB, "slow")]);
    await expect(room.take(20 * KB, "slow")).rejects.toMatchObject({ code: "unavailable" });
    const waits = room.take(20 * KB, "slow");
    (await room.take(25 * KB, "other"))();
    (await room.take(20 * KB))();
    for (const release of releases) release();
    await expect(waits).resolves.toBeTypeOf("function");
  });

  test("lets no small body pass a large one of another tenant that waits for room", async () => {
    const room = new BodyRoom({ totalBytes: 800 * KB, waitMs: 60_000 });
    const [first, second] = [await room.take(40 * KB, "one"), await room.take(30 * KB, "two")];
    const order: string[] = [];
    const large = room.take(80 * KB, "three").then((release) => {
      order.push("large");
      return release;
    });
    const small = room.take(20 * KB, "four").then(() => order.push("small"));
    first();
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    second();
    (await large)();
    await small;
    expect(order).toEqual(["large", "small"]);
  });
});

function filled(room: ArrivalRoom, tenant: string, bytes: number) {
  const arrival = room.arrival(tenant);
  arrival.hold(bytes);
  return arrival;
}

describe("the room for bodies on their way", () => {
  test("is bounded for all of them, and a part of it for each tenant", () => {
    const room = new ArrivalRoom({ largestBytes: 100 * KB, heapBytes: 0 });
    const all = [filled(room, "one", 100 * KB), filled(room, "one", 100 * KB), filled(room, "one", 100 * KB)];
    expect(() => filled(room, "one", 20 * KB)).toThrow(expect.objectContaining({ code: "unavailable" }));
    all.push(filled(room, "two", 100 * KB));
    expect(() => filled(room, "three", 20 * KB)).toThrow(expect.objectContaining({ code: "unavailable" }));
    filled(room, "three", 10 * KB);
    for (const { release } of all) release();
    for (let i = 0; i < 10; i++) filled(room, "three", 100 * KB).release();
  });

  test("is taken by what has come of a body, whatever length it declares", async () => {
    const room = new ArrivalRoom({ largestBytes: 100 * KB, heapBytes: 0 });
    const uploads = Array.from({ length: 40 }, () => {
      const headers = { "content-length": String(100 * KB) };
      const request = Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
      const body = readArchiveBody(request, { maxBytes: 100 * KB, hold: room.arrival("one").hold });
      const refused = body.then(
        () => false,
        (error) => error.code === "unavailable",
      );
      return { request, refused };
    });
    for (const { request } of uploads) request.write(Buffer.alloc(100 * KB - 1));
    for (const { request } of uploads) request.end();
    const refused = await Promise.all(uploads.map((one) => one.refused));
    expect(refused.filter((one) => !one)).toHaveLength(3);
  });
});
