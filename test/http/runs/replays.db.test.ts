import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ForkRunResponse } from "../../../src/protocol/runs/fork-api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { ForkHost } from "../../../src/testing/fork-host.ts";
import { told } from "../../../src/testing/forks.ts";
import { expectError } from "../../../src/testing/host.ts";
import { expectAllRebuilt } from "../../../src/testing/rebuilt.ts";
import { workflow } from "../../../src/testing/workflow.ts";

describe.each(HTTP_STORES)("a replay on %s", (_, open) => {
  let forks: ForkHost;
  let drop: () => Promise<void>;
  let source: string;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    forks = await ForkHost.start(opened.store);
    source = await forks.everything();
  });
  afterAll(async () => {
    await expectAllRebuilt(forks.host.store);
    await forks.host.close();
    await drop();
  });

  test("says what its source says, event by event, without asking anybody or having any effect", async () => {
    const calls = forks.effect.calls.length;
    const answer = await forks.fork(source, { mode: "replay" });
    expect(matches(ForkRunResponse, answer)).toBe(true);
    expect(answer).toMatchObject({ sourceRunId: source, fromSeq: 0, mode: "replay" });
    expect(answer.runId).toMatch(/^run-/);
    expect(answer.runId).not.toBe(source);

    const run = await forks.ended(answer.runId);
    const original = await forks.log(source);
    expect(told(await forks.log(answer.runId))).toEqual(told(original));
    expect(run).toMatchObject({ status: "completed", variables: { fromChild: 42, number: expect.any(Number) } });
    expect(original.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        ...["assay.timer.set", "node.retried", "channel.written", "node.dispatched", "assay.child.ended"],
        ...["interrupt.requested", "approval.requested", "approval.received", "interrupt.resolved", "node.resumed"],
      ]),
    );
    expect(forks.effect.calls).toHaveLength(calls);
    expect(await forks.host.store.interruptRows(answer.runId)).toEqual({ interrupts: [], votes: [] });
    expect((await forks.host.ask("GET", "/v1/host/assay/inbox")).json().items).toEqual([]);
  });

  test("is a run that nobody stepped into, however many decided in its source", async () => {
    const steppedInto = async () =>
      (await forks.host.ask("GET", "/v1/host/assay/feedback/summary")).json().total.intervals.interventionRate;
    const before = await steppedInto();
    expect(before.count).toBeGreaterThan(0);
    for (const fork of [{ mode: "replay" }, { mode: "branch", fromSeq: (await forks.log(source)).length }] as const) {
      await forks.ended((await forks.fork(source, fork)).runId);
    }
    expect(await steppedInto()).toMatchObject({ count: before.count, of: before.of + 2 });
  });

  test("may begin anywhere: what is before is copied, and only ids of the log are new", async () => {
    const original = await forks.log(source);
    for (let fromSeq = 0; fromSeq <= original.length; fromSeq++) {
      const { runId } = await forks.fork(source, { mode: "replay", fromSeq });
      await forks.ended(runId);
      const log = await forks.log(runId);
      expect(told(log), `from ${fromSeq}`).toEqual(told(original));
      expect(log.every((event) => event.runId === runId)).toBe(true);
      expect(log.slice(0, fromSeq).map(({ timestamp }) => timestamp)).toEqual(
        original.slice(0, fromSeq).map(({ timestamp }) => timestamp),
      );
      const ids = new Set([...log, ...original].map(({ eventId }) => eventId));
      expect(ids.size).toBe(log.length + original.length);
    }
  });

  test("of a replay says the same again", async () => {
    const first = await forks.fork(source, { mode: "replay" });
    await forks.ended(first.runId);
    const second = await forks.fork(first.runId, { mode: "replay", fromSeq: 5 });
    await forks.ended(second.runId);
    expect(told(await forks.log(second.runId))).toEqual(told(await forks.log(source)));
    expect((await forks.gates.snapshot(second.runId)).metadata).toMatchObject({
      forkedFrom: { runId: first.runId, fromSeq: 5 },
    });
  });

  test("knows its source, beside the metadata it has from it, and no event says so", async () => {
    const { runId } = await forks.fork(source, { mode: "replay", fromSeq: 3 });
    await forks.ended(runId);
    const { metadata, owner } = await forks.gates.snapshot(runId);
    expect(metadata).toEqual({ who: "me", forkedFrom: { runId: source, fromSeq: 3 } });
    expect(owner).toEqual((await forks.gates.snapshot(source)).owner);
    expect(JSON.stringify(await forks.log(runId))).not.toContain("forkedFrom");
  });

  test("is one by what the host did: whoever starts a run cannot say that it is a fork", async () => {
    const metadata = { who: "me", forkedFrom: { runId: source, fromSeq: 0 } };
    const claimed = await forks.gates.waiting("gated", "owner", { metadata });
    expect((await forks.gates.snapshot(claimed)).metadata).toEqual({ who: "me" });
  });

  test("of a run that waits at a gate ends, because nobody has answered", async () => {
    const waiting = await forks.gates.waiting("gated");
    const { runId } = await forks.fork(waiting, { mode: "replay" });
    const run = await forks.ended(runId);
    expect(run).toMatchObject({ status: "failed", error: { code: "replay_source_missing" } });
    expect((await forks.gates.snapshot(waiting)).status).toBe("waiting-approval");
    expectError(await forks.gates.answer(runId, { action: "accept" }), "interrupt_not_found");
    await forks.gates.answer(waiting, { action: "accept" });
    await forks.ended(waiting);
  });

  test("of a run that has not come to its effect ends there, and the effect does not happen", async () => {
    const waiting = await forks.gates.start("slow-then-count");
    await forks.gates.until(waiting, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    const calls = forks.effect.calls.length;
    const { runId } = await forks.fork(waiting, { mode: "replay" });
    const run = await forks.ended(runId);
    expect(run).toMatchObject({ status: "failed", error: { code: "replay_source_missing" } });
    expect(run.nodes).toMatchObject({ nap: { status: "completed" }, count: { status: "failed" } });
    expect(forks.effect.calls).toHaveLength(calls);
    await forks.host.ask("POST", `/v1/runs/${waiting}/cancel`, { json: {} });
  });

  test("of a run that was cancelled before its effect ends at the effect, which does not happen", async () => {
    const cancelled = await forks.gates.start("slow-then-count");
    await forks.gates.until(cancelled, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    await forks.host.ask("POST", `/v1/runs/${cancelled}/cancel`, { json: {} });
    const calls = forks.effect.calls.length;
    const log = await forks.log(cancelled);
    const at = log.findIndex(({ type }) => type === "node.cancelled");
    for (const fromSeq of [0, at]) {
      const run = await forks.ended((await forks.fork(cancelled, { mode: "replay", fromSeq })).runId);
      expect(run).toMatchObject({ status: "failed", error: { code: "replay_source_missing" } });
      expect(run.nodes).toMatchObject({ nap: { status: "completed" }, count: { status: "failed" } });
      expect(told(await forks.log(run.runId)).slice(0, at)).toEqual(told(log).slice(0, at));
    }
    expect(forks.effect.calls).toHaveLength(calls);
    // A fork whose history holds a part of the cancellation is cancelled.
    const late = await forks.ended((await forks.fork(cancelled, { mode: "replay", fromSeq: at + 1 })).runId);
    expect(late.status).toBe("cancelled");
  });

  test("of a run that was cancelled at a gate is cancelled: no effect is reached without the answer", async () => {
    await forks.gates.registerWorkflow(
      workflow({
        id: "gate-then-count",
        nodes: { gate: "core.approvalGate", count: "test.counted" },
        edges: ["gate>count"],
      }),
    );
    const cancelled = await forks.gates.waiting("gate-then-count");
    await forks.host.ask("POST", `/v1/runs/${cancelled}/cancel`, { json: {} });
    const { runId } = await forks.fork(cancelled, { mode: "replay" });
    expect((await forks.ended(runId)).status).toBe("cancelled");
    expect(told(await forks.log(runId))).toEqual(told(await forks.log(cancelled)));
  });

  test("of a run that was paused, resumed and cancelled is cancelled at the same place", async () => {
    const cancelled = await forks.gates.start("sleeps");
    await forks.gates.until(cancelled, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    await forks.host.ask("POST", `/v1/runs/${cancelled}:pause`, {
      json: { drainPolicy: "immediate", reason: "lunch" },
    });
    await forks.host.ask("POST", `/v1/runs/${cancelled}:resume`, { json: {} });
    await forks.gates.until(cancelled, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    await forks.host.ask("POST", `/v1/runs/${cancelled}/cancel`, { json: { reason: "enough" } });
    const { runId } = await forks.fork(cancelled, { mode: "replay" });
    expect(await forks.ended(runId)).toMatchObject({ status: "cancelled", cancel: { by: "ada", reason: "enough" } });
    expect(told(await forks.log(runId))).toEqual(told(await forks.log(cancelled)));
  });

  test("of a run that is a child has no parent, and its parent does not learn of it", async () => {
    const { children } = (await forks.host.store.readRun({ tenant: "t1" }, source)) ?? {};
    const [child = ""] = Object.keys(children ?? {});
    const before = await forks.log(source);
    const { runId } = await forks.fork(child, { mode: "replay" });
    expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
    expect((await forks.gates.snapshot(runId)).parentRunId).toBeUndefined();
    expect(told(await forks.log(runId))).toEqual(told(await forks.log(child)));
    expect(await forks.log(source)).toEqual(before);
  });

  test("that ends while its source waits for a child leaves that child alone", async () => {
    await forks.gates.registerWorkflow(
      workflow({ id: "waits-below", nodes: { call: { typeId: "core.subWorkflow", config: { workflowId: "gated" } } } }),
    );
    const waiting = await forks.gates.waiting("waits-below");
    const { childRuns = [] } = await forks.gates.snapshot(waiting);
    const { runId } = await forks.fork(waiting, { mode: "replay" });
    expect(await forks.ended(runId)).toMatchObject({ status: "failed", error: { code: "replay_source_missing" } });
    expect((await forks.gates.snapshot(childRuns[0]?.runId ?? "")).status).toBe("waiting-approval");
    await forks.host.ask("POST", `/v1/runs/${waiting}/cancel`, { json: {} });
  });

  test("leaves its source as it was", async () => {
    const before = [await forks.log(source), await forks.gates.snapshot(source)];
    const { runId } = await forks.fork(source, { mode: "replay", fromSeq: 7 });
    await forks.ended(runId);
    expect([await forks.log(source), await forks.gates.snapshot(source)]).toEqual(before);
  });
});
