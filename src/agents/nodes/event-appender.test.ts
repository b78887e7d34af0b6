import { describe, expect, test } from "vitest";
import type { EventDraft } from "../../protocol/events.ts";
import { EventAppender } from "./event-appender.ts";

const draft = (delta: string): EventDraft => ({
  type: "agent.reasoning.delta",
  nodeId: "ask",
  payload: { agentId: "local.test.echo", delta, sequence: 0 },
});

function appender(refusals: number, signal = new AbortController().signal) {
  const batches: string[][] = [];
  let left = refusals;
  const append = async (events: readonly EventDraft[]) => {
    await Promise.resolve();
    if (left-- > 0) throw new Error("not written");
    batches.push(events.map(({ payload }) => (payload as { delta: string }).delta));
  };
  return { batches, appender: new EventAppender({ append, signal }) };
}

describe("what is told", () => {
  test("is written in order, and what comes meanwhile together", async () => {
    const { appender: one, batches } = appender(0);
    for (const word of ["a", "b", "c"]) one.append(draft(word));
    await one.flushed();
    one.append(draft("d"));
    await one.write([draft("e")]);
    expect(batches).toEqual([["a"], ["b", "c"], ["d"], ["e"]]);
  });

  test("is written again when it was refused for the sake of others", async () => {
    const { appender: one, batches } = appender(2);
    one.append(draft("a"));
    one.append(draft("b"));
    await one.flushed();
    expect(batches).toEqual([["a"], ["b"]]);
  });

  test("is given up when it counts no more", async () => {
    const { appender: one, batches } = appender(9);
    one.append(draft("a"));
    await expect(one.flushed()).rejects.toThrow("not written");
    one.append(draft("b"));
    await expect(one.write([draft("c")])).rejects.toThrow("not written");
    const over = appender(1, AbortSignal.abort());
    over.appender.append(draft("a"));
    await expect(over.appender.flushed()).rejects.toThrow("not written");
    expect([batches, over.batches]).toEqual([[], []]);
  });
});
