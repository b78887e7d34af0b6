import { expect, test } from "vitest";
import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { StoredEvent } from "../../store/port/store.ts";
import { closeLost } from "./lost-invocation.ts";

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
