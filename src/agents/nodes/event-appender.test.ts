import { describe, expect, test } from "vitest";
import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { StoredEvent } from "../../store/port/store.ts";
import { closeLost, EventAppender } from "./event-appender.ts";

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

type Told = readonly [type: string, nodeId: string, payload: object];

function closed(told: readonly Told[], attempt = 1) {
  const log = told.map(([type, nodeId, payload], sequence) => {
    return { type, sequence, body: JSON.stringify({ nodeId, payload }) } as unknown as StoredEvent;
  });
  const readEvents = async (_: string, from: number, limit: number) => log.slice(from, from + limit);
  const context = { run: { runId: "run-1" }, node: { id: "ask" }, attempt } as EffectContext;
  return closeLost({ readEvents }, context);
}

const begun = (nodeId: string, invocationId: string): Told => [
  "agent.invocation.started",
  nodeId,
  { invocationId, agentId: "local.a.b" },
];
const done = (nodeId: string, invocationId: string): Told => [
  "agent.invocation.completed",
  nodeId,
  { invocationId, agentId: "local.a.b", outcome: "completed" },
];
const failed = (invocationId: string) => ({
  type: "agent.invocation.completed",
  nodeId: "ask",
  payload: { invocationId, agentId: "local.a.b", outcome: "failed" },
});

test("an attempt closes what the one before it left open at its node, and nothing that is under way at another", async () => {
  const log = [begun("ask", "inv-1"), done("ask", "inv-1"), begun("ask", "inv-2"), begun("beside", "inv-3")];
  expect(await closed(log)).toEqual([failed("inv-2")]);
  expect(await closed([...log, done("ask", "inv-2")])).toEqual([]);
  expect(await closed(log, 0)).toEqual([]);
});

test("it closes a message of its node that broke off, before the invocation, and no message of another", async () => {
  const said = (nodeId: string, isLast: boolean): Told => ["output.chunk", nodeId, { chunk: "x", isLast }];
  const [chunk, ...rest] = await closed([begun("ask", "inv-1"), said("ask", false), said("beside", true)]);
  expect(chunk).toMatchObject({ type: "output.chunk", payload: { isLast: true, meta: { finishReason: "error" } } });
  expect(rest).toEqual([failed("inv-1")]);
  expect(await closed([said("ask", true), said("beside", false)])).toEqual([]);
});

test("what was left open is found however long the log is", async () => {
  const noise = Array.from({ length: 1200 }, (): Told => ["node.started", "beside", {}]);
  expect(await closed([begun("ask", "inv-1"), ...noise, begun("ask", "inv-2")])).toEqual([
    failed("inv-1"),
    failed("inv-2"),
  ]);
});
