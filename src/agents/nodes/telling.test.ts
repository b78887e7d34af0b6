import { describe, expect, test } from "vitest";
import type { EventDraft } from "../../protocol/events.ts";
import { Telling } from "./telling.ts";

const said = (delta: string): EventDraft => ({
  type: "agent.reasoning.delta",
  nodeId: "ask",
  payload: { agentId: "local.test.echo", delta, sequence: 0 },
});

function telling(refusals: number, signal = new AbortController().signal) {
  const batches: string[][] = [];
  let left = refusals;
  const append = async (events: readonly EventDraft[]) => {
    await Promise.resolve();
    if (left-- > 0) throw new Error("not written");
    batches.push(events.map(({ payload }) => (payload as { delta: string }).delta));
  };
  return { batches, telling: new Telling({ append, signal }) };
}

describe("what is told", () => {
  test("is written in order, and what comes meanwhile together", async () => {
    const { telling: one, batches } = telling(0);
    for (const word of ["a", "b", "c"]) one.tell(said(word));
    await one.told();
    one.tell(said("d"));
    await one.write([said("e")]);
    expect(batches).toEqual([["a"], ["b", "c"], ["d"], ["e"]]);
  });

  test("is written again when it was refused for the sake of others", async () => {
    const { telling: one, batches } = telling(2);
    one.tell(said("a"));
    one.tell(said("b"));
    await one.told();
    expect(batches).toEqual([["a"], ["b"]]);
  });

  test("is given up when it counts no more", async () => {
    const { telling: one, batches } = telling(9);
    one.tell(said("a"));
    await expect(one.told()).rejects.toThrow("not written");
    one.tell(said("b"));
    await expect(one.write([said("c")])).rejects.toThrow("not written");
    const over = telling(1, AbortSignal.abort());
    over.telling.tell(said("a"));
    await expect(over.telling.told()).rejects.toThrow("not written");
    expect([batches, over.batches]).toEqual([[], []]);
  });
});
