import { describe, expect, test } from "vitest";
import type { StoredEvent } from "../../store/port/store.ts";
import { EventBatch } from "./event-batch.ts";
import { parseStreamMode } from "./event-frames.ts";

const LARGE = 70_000;

function event(sequence: number, bytes = 100): StoredEvent {
  return { sequence, type: "node.completed", body: `"${"x".repeat(bytes)}"` } as StoredEvent;
}

/** A subscriber's batch and what it sent; it sends nothing while it is `full`. */
function batchOf(bufferMs = 60_000) {
  const sent: Buffer[] = [];
  const state = { full: false, refusals: 0 };
  const batch = new EventBatch(parseStreamMode("debug"), bufferMs, {
    send: (frame) => {
      if (!state.full) sent.push(frame());
      return !state.full;
    },
    refused: () => {
      state.refusals += 1;
    },
  });
  return { batch, sent, state };
}

describe("a batch of events", () => {
  test("is made once for all subscribers that hold the same events", () => {
    const events = [event(1), event(2)];
    const subscribers = [batchOf(), batchOf()];
    for (const { batch } of subscribers) {
      for (const one of events) batch.add(one);
      batch.flush();
    }
    const [first, second] = subscribers.map(({ sent }) => sent[0]);
    expect(first).toBeInstanceOf(Buffer);
    expect(second).toBe(first);
  });

  test("ends before a large event, which is made once for all, whatever each held before it", () => {
    const [early, late] = [batchOf(), batchOf()];
    const large = event(3, LARGE);
    early.batch.add(event(1));
    for (const { batch } of [early, late]) {
      batch.add(event(2));
      batch.add(large);
    }
    expect(early.sent).toHaveLength(2);
    expect(late.sent[1]).toBe(early.sent[1]);
  });

  test("is still held when the socket is full, and is due again", async () => {
    const { batch, sent, state } = batchOf(1);
    state.full = true;
    expect(batch.add(event(1))).toBe(true);
    while (state.refusals < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(batch.add(event(2, LARGE))).toBe(false);
    expect(sent).toEqual([]);
    expect(batch.drop()).toBe(1);
  });
});
