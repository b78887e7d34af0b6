import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { ArrivalRoom } from "./arrival-room.ts";
import { readArchiveBody } from "./read-body.ts";

const KB = 1024;

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
