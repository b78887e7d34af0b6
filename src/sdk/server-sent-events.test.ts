import { describe, expect, test } from "vitest";
import { type RawFrame, readFrames } from "./server-sent-events.ts";

async function frames(...chunks: string[]): Promise<RawFrame[]> {
  return collect(readFrames(streamOf(...chunks)));
}

function streamOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("an event stream", () => {
  test("is read frame by frame, comments skipped", async () => {
    expect(await frames(": hello\n\nid: 0\nevent: run.started\ndata: {}\n\n:keepalive\n\nid: 1\ndata: x\n\n")).toEqual([
      { id: "0", event: "run.started", data: "{}" },
      { id: "1", event: "message", data: "x" },
    ]);
  });

  test("may be cut anywhere on its way", async () => {
    const text = "id: 7\r\nevent: a\r\ndata: ä\r\ndata: b\r\n\r\n";
    const whole = await frames(text);
    expect(whole).toEqual([{ id: "7", event: "a", data: "ä\nb" }]);
    expect(await frames(...text)).toEqual(whole);
  });

  test("gives frames their own ids only, and drops what it did not finish", async () => {
    expect(await frames("id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n")).toEqual([
      { id: "1", event: "message", data: "a" },
      { id: undefined, event: "message", data: "b" },
    ]);
  });

  test("tells of every id, also of one that stands alone", async () => {
    const ids: string[] = [];
    const stream = streamOf("id: at-1\n\n:keepalive\n\nid: a\ndata: x\n\nid: b\ndata: cut off");
    expect(await collect(readFrames(stream, (id) => ids.push(id)))).toEqual([{ id: "a", event: "message", data: "x" }]);
    expect(new Set(ids)).toEqual(new Set(["at-1", "a"]));
  });

  test("holds the characters that other line readers take for the end of a line", async () => {
    expect(await frames("data: a\u2028b\n\n")).toEqual([{ id: undefined, event: "message", data: "a\u2028b" }]);
  });

  test("takes work in proportion to its length, in however many pieces it comes", async () => {
    const pieces = Array.from({ length: 16_000 }, () => "x".repeat(1_000));
    const [frame] = await frames("data: ", ...pieces, "\n", "\n");
    expect(frame?.data.length).toBe(16_000_000);
  });
});
