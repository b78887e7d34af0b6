import { describe, expect, test } from "vitest";
import type { EventDraft } from "../../protocol/events.ts";
import type { Document } from "../../store/port/documents.ts";
import type { Unit } from "../../store/port/store.ts";
import { begin, engineOn, logOf, register, scriptedEffect, until } from "../../testing/engine.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { cancelRun, pauseRun, resumeRun } from "../runs/change-run.ts";
import { forkRun } from "../runs/fork-run.ts";
import type { EffectContext, NodeOutcome } from "./node-type.ts";

const bench = workbench();
const one = workflow({ nodes: { act: "test.effect" }, edges: [] });

async function underWay() {
  const { store } = bench;
  const effect = scriptedEffect("test.effect");
  const commits: Unit[] = [];
  const commit = (unit: Unit) => {
    commits.push(unit);
    return store.commit(unit);
  };
  const host = engineOn({ ...store, commit }, [effect]);
  const workflowId = await register(host, one);
  const worker = bench.work(host);
  const runId = await begin({ ...host, localWorker: worker }, { workflowId });
  await effect.called(1);
  const call = (n: number) => effect.calls[n - 1] as (typeof effect.calls)[number];
  const context = (n: number): EffectContext => call(n).context;
  const types = async () => (await logOf(store, runId)).map(({ type }) => type);
  return {
    store,
    commits,
    host,
    effect,
    runId,
    context,
    types,
    finish: (n = 1) => call(n).finish({ type: "completed" }),
  };
}

const said = (delta: string, sequence = 0): EventDraft => ({
  type: "agent.reasoning.delta",
  nodeId: "act",
  payload: { agentId: "core.test.agent", delta, sequence },
});

const found = (key: string, runId: string, revision = 1): Document => ({
  tenant: "t1",
  kind: "eval-task",
  key,
  runId,
  revision,
  atMs: 1,
  body: "{}",
});

describe("what a node writes while it executes", () => {
  test("is in the log when the node is told so, and its result comes after", async () => {
    const { store, context, types, finish, runId } = await underWay();
    await context(1).append([said("so"), said(" be it", 1)]);
    expect(await types()).toEqual(["run.started", "node.started", "agent.reasoning.delta", "agent.reasoning.delta"]);
    const last = context(1).append([said("done", 2)]);
    finish();
    await last;
    await until(store, runId, ended);
    expect((await types()).slice(4)).toEqual(["agent.reasoning.delta", "node.completed", "run.completed"]);
  });

  test.each<readonly [NodeOutcome, string]>([
    [{ type: "completed" }, "node.completed"],
    [{ type: "failed", error: { code: "node_threw", message: "no" } }, "node.failed"],
    [{ type: "sleep", forMs: 600_000 }, "assay.timer.set"],
  ])("at its end is one commit with what it came to, before it: $0.type", async (outcome, told) => {
    const { store, commits, context, effect, runId } = await underWay();
    context(1).atEnd([said("done", 1)]);
    await context(1).append([said("so")]);
    effect.calls[0]?.finish(outcome);
    await until(store, runId, ({ nodes }) => nodes["act"]?.status !== "executing");
    const written = commits.map(({ runs = [] }) => runs.flatMap(({ events }) => events.map(({ type }) => type)));
    expect(written.filter((types) => types.includes("agent.reasoning.delta"))).toHaveLength(2);
    expect(written.at(-1)?.slice(0, 2)).toEqual(["agent.reasoning.delta", told]);
  });

  test("at its end is not written where the run was cancelled before", async () => {
    const { store, host, context, runId, types, finish } = await underWay();
    context(1).atEnd([said("done")]);
    await cancelRun(host, change(runId));
    finish();
    await until(store, runId, ended);
    expect(await types()).not.toContain("agent.reasoning.delta");
  });

  test("keeps its order, however fast it comes", async () => {
    const { store, context, finish, runId } = await underWay();
    await Promise.all(Array.from({ length: 40 }, (_, i) => context(1).append([said(`${i}`, i)])));
    finish();
    await until(store, runId, ended);
    const sequences = (await logOf(store, runId)).flatMap(({ type, payload }) =>
      type === "agent.reasoning.delta" ? [(payload as { sequence: number }).sequence] : [],
    );
    expect(sequences).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  test("is one with what belongs to it: both are there, or neither is and the node goes on", async () => {
    const { store, context, finish, runId, types } = await underWay();
    await context(1).append([said("a")], { documents: [{ type: "put", document: found("a", runId) }] });
    const again = context(1).append([said("b")], { documents: [{ type: "put", document: found("a", runId) }] });
    await expect(again).rejects.toThrow("no longer counts");
    expect(await store.listDocuments("t1", "eval-task", { limit: 9 })).toEqual([found("a", runId)]);
    await context(1).append([said("c")]);
    finish();
    const run = await until(store, runId, ended);
    expect(run.status).toBe("completed");
    expect((await types()).filter((type) => type === "agent.reasoning.delta")).toHaveLength(2);
  });

  test("is written also where no event goes with it", async () => {
    const { store, context, finish, runId } = await underWay();
    await context(1).append([], { documents: [{ type: "put", document: found("a", runId) }] });
    expect(await store.listDocuments("t1", "eval-task", { limit: 9 })).toEqual([found("a", runId)]);
    const again = context(1).append([], { documents: [{ type: "put", document: found("a", runId) }] });
    await expect(again).rejects.toThrow("no longer counts");
    finish();
    expect((await until(store, runId, ended)).status).toBe("completed");
  });

  test("is refused once the run is cancelled", async () => {
    const { store, host, context, runId, types } = await underWay();
    await cancelRun(host, change(runId));
    await until(store, runId, ended);
    await expect(context(1).append([said("late")])).rejects.toThrow("no longer counts");
    expect(await types()).not.toContain("agent.reasoning.delta");
  });

  test("is refused to an attempt that another one replaced", async () => {
    const { store, host, effect, context, runId, finish, types } = await underWay();
    await pauseRun(host, change(runId, { drainPolicy: "immediate" }));
    await resumeRun(host, change(runId));
    await effect.called(2);
    await expect(context(1).append([said("from the first")])).rejects.toThrow("no longer counts");
    await context(2).append([said("from the second")]);
    finish(2);
    await until(store, runId, ended);
    expect((await types()).filter((type) => type === "agent.reasoning.delta")).toHaveLength(1);
  });

  test("is told again by a replay, word for word, and each event refers to its own cause", async () => {
    const { store, host, context, runId, finish } = await underWay();
    const eventId = host.newId("evt");
    const callId = "call-1";
    const about = { agentId: "core.test.agent", toolName: "mcp:clock", callId };
    await context(1).append([
      { type: "agent.toolCalled", nodeId: "act", eventId, payload: about },
      { type: "agent.toolReturned", nodeId: "act", causationId: eventId, payload: { ...about, status: "ok" } },
    ]);
    finish();
    await until(store, runId, ended);
    const request = { mode: "replay" as const, fromSeq: 0 };
    const { runId: replayId } = await forkRun(host, { ...change(runId), request });
    await until(store, replayId, ended);
    const [source, replay] = [await logOf(store, runId), await logOf(store, replayId)];
    expect(replay.map(({ type, payload }) => ({ type, payload }))).toEqual(
      source.map(({ type, payload }) => ({ type, payload })),
    );
    for (const log of [source, replay]) {
      const called = log.find(({ type }) => type === "agent.toolCalled");
      expect(log.find(({ type }) => type === "agent.toolReturned")?.causationId).toBe(called?.eventId);
    }
    expect(replay.map((event) => event.eventId)).not.toContain(eventId);
  });
});
