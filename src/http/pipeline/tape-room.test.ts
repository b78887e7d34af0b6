import { describe, expect, test } from "vitest";
import { packRoom, reviewRoom, TapeRoom, tapeBytesFor } from "./tape-room.ts";

const MAX = 1000;
const ORDINARY = 10;

function request(bytes: number | undefined) {
  return { headers: bytes === undefined ? {} : { "content-length": String(bytes) } };
}

/** Holds a place until told to leave it. */
function visitor(room: TapeRoom, bytes: number | undefined) {
  let leave = () => {};
  const staying = new Promise<void>((resolve) => {
    leave = resolve;
  });
  return { leave: () => leave(), left: room.during(request(bytes), () => staying) };
}

describe("room for whole files", () => {
  test("is for two of the largest at once; a third is told to try again, before its body is read", async () => {
    const room = new TapeRoom({ maxTapeBytes: MAX, maxRequestBodyBytes: ORDINARY });
    const [first, second] = [visitor(room, MAX), visitor(room, undefined)];
    let read = false;
    const third = room.during(request(MAX), async () => {
      read = true;
    });
    await expect(third).rejects.toMatchObject({ code: "unavailable" });
    expect(read).toBe(false);

    first.leave();
    await first.left;
    await expect(room.during(request(MAX), async () => "in")).resolves.toBe("in");
    second.leave();
    await second.left;
  });

  test("is free again after a failure", async () => {
    const room = new TapeRoom({ maxTapeBytes: MAX, maxRequestBodyBytes: ORDINARY });
    const fail = async () => {
      throw new Error("unreadable");
    };
    for (let i = 0; i < 5; i++) await expect(room.during(request(MAX), fail)).rejects.toThrow("unreadable");
  });

  test("is not needed by what any other request could bring", async () => {
    const room = new TapeRoom({ maxTapeBytes: MAX, maxRequestBodyBytes: ORDINARY });
    const large = [visitor(room, MAX), visitor(room, MAX)];
    await expect(room.during(request(ORDINARY), async () => "in")).resolves.toBe("in");
    for (const one of large) one.leave();
    await Promise.all(large.map(({ left }) => left));
  });
});

test("a tape is as large as the settings allow, and no larger than a sixteenth of the heap", () => {
  const mb = 2 ** 20;
  expect(tapeBytesFor(64 * mb, 4096 * mb)).toBe(64 * mb);
  expect(tapeBytesFor(64 * mb, 256 * mb)).toBe(16 * mb);
});

describe("room for reviews", () => {
  const settings = { maxReviewBytes: 16, maxTapeBytes: 64, maxRequestBodyBytes: 1 };

  test("is as much as tapes have, and less where the heap is small, but always enough for one", async () => {
    const admitted = (heapBytes: number) => {
      const room = reviewRoom(settings, heapBytes);
      const visitors = Array.from({ length: 20 }, () => visitor(room, 16));
      return Promise.all(
        visitors.map(({ leave, left }) => {
          setImmediate(leave);
          return left.then(
            () => 1,
            () => 0,
          );
        }),
      ).then((counts) => counts.filter((count) => count === 1).length);
    };
    expect(await admitted(1_000_000)).toBe(8);
    expect(await admitted(32 * 48)).toBe(3);
    expect(await admitted(32)).toBe(1);
  });
});

describe("room for packs", () => {
  test("counts a pack on its way by its declared length, before anything of it is read", async () => {
    const room = packRoom({ maxPackBytes: 16, maxRequestBodyBytes: 1 }, 0);
    const visitors = [visitor(room, 16), visitor(room, undefined)];
    await expect(room.during(request(16), async () => "in")).rejects.toMatchObject({ code: "unavailable" });
    for (const { leave } of visitors) leave();
    await Promise.all(visitors.map(({ left }) => left));
    await expect(room.during(request(16), async () => "in")).resolves.toBe("in");
  });
});
