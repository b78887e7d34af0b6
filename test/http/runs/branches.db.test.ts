import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { ForkHost } from "../../../src/testing/fork-host.ts";
import { told } from "../../../src/testing/forks.ts";
import { expectError } from "../../../src/testing/host.ts";
import { expectAllRebuilt } from "../../../src/testing/rebuilt.ts";

const ACCEPT = { action: "accept" };

describe.each(HTTP_STORES)("a branch on %s", (_, open) => {
  let forks: ForkHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    forks = await ForkHost.start(opened.store);
  });
  afterAll(async () => {
    await expectAllRebuilt(forks.host.store);
    await forks.host.close();
    await drop();
  });

  async function decided(): Promise<string> {
    const runId = await forks.gates.waiting("gate-then-count");
    await forks.gates.answer(runId, ACCEPT);
    await forks.ended(runId);
    return runId;
  }

  async function sequenceOf(runId: string, type: string, nodeId?: string): Promise<number> {
    const found = (await forks.log(runId)).find((event) => event.type === type && event.nodeId === nodeId);
    return found?.sequence ?? Number.NaN;
  }

  test("has the effects after it for itself, once its gate was decided for it", async () => {
    const source = await decided();
    const fromSeq = await sequenceOf(source, "node.started", "count");
    const calls = forks.effect.calls.length;
    const { runId, status } = await forks.fork(source, { mode: "branch", fromSeq });
    expect(status).toBe("running");
    await forks.gates.until(runId, (run) => run.status === "waiting-approval");
    expect(forks.effect.calls.slice(calls)).toEqual([]);
    await forks.gates.answer(runId, ACCEPT);
    expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
    expect(forks.effect.calls.slice(calls)).toEqual([runId]);
    const [log, original] = [await forks.log(runId), await forks.log(source)];
    expect(told(log.slice(0, fromSeq))).toEqual(told(original.slice(0, fromSeq)));
    expect(log[fromSeq]).toMatchObject({ type: "assay.branch.began", payload: { nodeIds: ["gate"] } });
  });

  test("that begins where a gate was open asks anew, and leaves the gate of its source alone", async () => {
    const source = await forks.gates.waiting("gate-then-count");
    const { version } = (await forks.host.store.readRun({ tenant: "t1" }, source)) ?? { version: 0 };
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: version });
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    const [mine, theirs] = [await forks.gates.interrupt(runId), await forks.gates.interrupt(source)];
    expect(mine.interruptId).not.toBe(theirs.interruptId);
    expect((await forks.host.store.interruptRows(runId)).interrupts).toMatchObject([
      { interrupt_id: mine.interruptId, status: "open" },
    ]);
    expect((await forks.gates.answer(runId, ACCEPT)).statusCode).toBe(200);
    expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
    expect((await forks.gates.snapshot(source)).status).toBe("waiting-approval");
    await forks.gates.answer(source, ACCEPT);
    await forks.ended(source);
  });

  test("that begins in the middle of a child's run starts a child of its own", async () => {
    const source = await forks.everything();
    const fromSeq = (await sequenceOf(source, "node.dispatched", "child")) + 1;
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq });
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    const childOf = async (id: string) => (await forks.gates.snapshot(id)).childRuns?.map((child) => child.runId);
    const [mine, theirs] = [await childOf(runId), await childOf(source)];
    expect(mine).toHaveLength(1);
    expect(mine).not.toEqual(theirs);
    expect((await forks.gates.snapshot(mine?.[0] ?? "")).parentRunId).toBe(runId);
    await forks.host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
  });

  test("goes on with the options it is given, and keeps the others", async () => {
    const source = await forks.gates.waiting("gate-then-count", "owner", {
      configurable: { colour: "red", model: "small" },
      tags: ["old"],
      metadata: { a: 1, b: 2 },
    });
    const overlay = {
      inputs: { name: "Grace", password: "second-secret" },
      configurable: { colour: "blue" },
      tags: ["new"],
      metadata: { b: 3, forkedFrom: "mine" },
    };
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: 1, runOptionsOverlay: overlay });
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    expect(await forks.gates.snapshot(runId)).toMatchObject({
      variables: { name: "Grace", password: "[REDACTED]" },
      configurable: { colour: "blue", model: "small" },
      tags: ["new"],
      metadata: { a: 1, b: 3, forkedFrom: { runId: source, fromSeq: 1 } },
    });
    expect((await forks.host.store.readRun({ tenant: "t1" }, runId))?.variables["password"]).toBe("second-secret");
    expect(JSON.stringify(await forks.log(runId))).not.toContain("second-secret");
    expect(await forks.gates.snapshot(source)).toMatchObject({ tags: ["old"], metadata: { a: 1, b: 2 } });
  });

  test.each([
    ["a value of another type", { inputs: { name: 7 } }],
    ["options that the workflow does not allow", { configurable: { colour: "green" } }],
    ["a limit out of range", { configurable: { recursionLimit: 0 } }],
    ["something that is no run option", { workflowId: "other" }],
    ["a tag without a letter", { tags: [""] }],
  ])("is refused with %s", async (_name, runOptionsOverlay) => {
    const source = await decided();
    expectError(await forks.ask(source, { mode: "branch", fromSeq: 1, runOptionsOverlay }), "validation_error");
  });

  test("from the first event on is the run once more, from its beginning", async () => {
    const source = await decided();
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: 0 });
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    const log = await forks.log(runId);
    expect(log.map(({ type }) => type).slice(0, 3)).toEqual(["run.started", "assay.branch.began", "node.started"]);
    expect(log[0]?.payload).toEqual((await forks.log(source))[0]?.payload);
    expect(log[0]?.timestamp).not.toBe((await forks.log(source))[0]?.timestamp);
  });

  test("of the whole log of a run that has ended has ended, and takes no other options", async () => {
    const source = await decided();
    const fromSeq = (await forks.log(source)).length;
    const { runId, status } = await forks.fork(source, { mode: "branch", fromSeq });
    expect(status).toBe("completed");
    expect(told(await forks.log(runId))).toEqual(told(await forks.log(source)));
    const late = await forks.ask(source, { mode: "branch", fromSeq, runOptionsOverlay: { tags: ["x"] } });
    expectError(late, "fork_point_invalid");
  });

  test("of a run that was paused runs by itself", async () => {
    const source = await forks.gates.start("sleeps");
    await forks.gates.until(source, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    await forks.host.ask("POST", `/v1/runs/${source}:pause`, { json: { drainPolicy: "immediate" } });
    const fromSeq = (await sequenceOf(source, "run.paused")) + 1;
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq });
    await forks.gates.until(runId, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    expect((await forks.gates.snapshot(runId)).status).toBe("running");
    for (const id of [source, runId]) await forks.host.ask("POST", `/v1/runs/${id}/cancel`, { json: {} });
    expect((await forks.gates.snapshot(source)).status).toBe("cancelled");
  });
});
