import { beforeEach, describe, expect, test } from "vitest";
import { Type } from "../../protocol/schema.ts";
import type { Store } from "../../store/port/store.ts";
import { ADA, begin, engineOn, logOf, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { expectAllRebuilt } from "../../testing/rebuilt.ts";
import { simulate } from "../../testing/simulate.ts";
import { answer, cancel, outcomeOf } from "../../testing/voters.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { EffectNodeType, NodeContext, NodeOutcome } from "./node-type.ts";
import { InterruptTimedOut, interruptsOf, Suspension } from "./suspension.ts";

const bench = workbench();
let store: Store;
beforeEach(() => {
  store = bench.store;
});

const one = workflow({ nodes: { act: "test.effect", next: "core.noop" }, edges: ["act>next"] });
const custom = (key: string, more: object = {}) => ({
  kind: "custom" as const,
  key,
  data: { customKind: key },
  ...more,
});

/** An effect node whose calls are counted. */
function effectOf(execute: (context: NodeContext, call: number) => NodeOutcome | Promise<NodeOutcome>) {
  let calls = 0;
  const type: EffectNodeType = {
    kind: "effect",
    typeId: "test.effect",
    summary: "Of a test.",
    config: Type.Object({}, { additionalProperties: true }),
    execute: async (context) => {
      calls += 1;
      return execute(context, calls);
    },
  };
  return { type, calls: () => calls };
}

const asked = async (runId: string) =>
  (await logOf(store, runId)).flatMap(({ type, payload }) =>
    type === "interrupt.requested" ? [(payload as { key: string }).key] : [],
  );
const openKey =
  (key: string) => (run: { readonly interrupts: Readonly<Record<string, { key: string; status: string }>> }) =>
    Object.values(run.interrupts).some((each) => each.key === key && each.status === "open");

describe("a node with effects that asks for two things", () => {
  const { type, calls } = effectOf(({ interrupt }) => {
    const first = interrupt(custom("first"));
    const second = interrupt(custom("second"));
    return { type: "completed", outputs: { first, second } };
  });

  test("is called again with each answer, in the same attempt, and asks each thing once", async () => {
    const host = engineOn(store, [type]);
    const working = { ...host, localWorker: bench.work(host) };
    const runId = await begin(working, { workflowId: await register(host, one) });
    await until(store, runId, openKey("first"));
    await answer(working, ADA, runId, 1, "act");
    await until(store, runId, openKey("second"));
    await answer(working, ADA, runId, { two: 2 }, "act");
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]?.outputs).toEqual({ first: 1, second: { two: 2 } });
    expect(await asked(runId)).toEqual(["first", "second"]);
    expect(calls()).toBe(3);
    const log = await logOf(store, runId);
    expect(log.filter((event) => event.type === "node.started" && event.nodeId === "act")).toHaveLength(1);
    await expectAllRebuilt(store);
  });
});

describe("a node with effects that has its answer", () => {
  test("is called only after that is durable, and gets it again from whoever takes over after a crash", async () => {
    const effect = scriptedEffect("test.effect");
    const asking: EffectNodeType = {
      ...effect,
      execute: (context) => {
        context.interrupt(custom("go"));
        return effect.execute(context);
      },
    };
    const host = engineOn(store, [asking]);
    const lost = workerOn(host, { leaseMs: 200, renewMs: 60_000 });
    const runId = await begin({ ...host, localWorker: lost }, { workflowId: await register(host, one) });
    await until(store, runId, openKey("go"));
    await answer(host, ADA, runId, "go", "act");
    await effect.called(1);
    const log = await logOf(store, runId);
    expect(log.map(({ type }) => type).slice(-3)).toEqual(["interrupt.resolved", "node.resumed", "assay.resume.taken"]);

    bench.work(host, { leaseMs: 60_000 });
    await effect.called(2);
    effect.calls[0]?.finish({ type: "completed", outputs: { by: "the first" } });
    effect.calls[1]?.finish({ type: "completed", outputs: { by: "the second" } });
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]).toMatchObject({ attempt: 1, outputs: { by: "the second" } });
    expect(await asked(runId)).toEqual(["go"]);
    await lost.stop(0);
    await expectAllRebuilt(store);
  });

  test("gets it again when it is tried again", async () => {
    const { type, calls } = effectOf(({ interrupt, attempt }) => {
      const value = interrupt(custom("go"));
      if (attempt === 0) return { type: "failed", error: { code: "down", message: "Later.", retryable: true } };
      return { type: "completed", outputs: { value } };
    });
    const host = engineOn(store, [type]);
    bench.work(host);
    const settings = { maxRetries: 1, retryDelayMs: 1 };
    const flaky = workflow({ nodes: { act: { typeId: "test.effect", settings } } });
    const runId = await begin(host, { workflowId: await register(host, flaky) });
    await until(store, runId, openKey("go"));
    await answer(host, ADA, runId, "yes", "act");
    expect((await until(store, runId, ended)).outputs).toEqual({ value: "yes" });
    expect(await asked(runId)).toEqual(["go"]);
    expect(calls()).toBe(3);
  });
});

describe("a node with effects that nobody answers in time", () => {
  test("may go another way", async () => {
    const { type } = effectOf(({ interrupt }) => {
      try {
        return { type: "completed", outputs: { value: interrupt(custom("go", { timeoutMs: 20 })) } };
      } catch (error) {
        if (!(error instanceof InterruptTimedOut)) throw error;
        return { type: "completed", outputs: { late: true } };
      }
    });
    const host = engineOn(store, [type]);
    bench.work(host);
    const runId = await begin(host, { workflowId: await register(host, one) });
    const run = await until(store, runId, ended);
    expect(run.nodes["act"]?.outputs).toEqual({ late: true });
  });

  test("fails when it has none", async () => {
    const { type } = effectOf(({ interrupt }) => ({
      type: "completed",
      outputs: { value: interrupt(custom("go", { timeoutMs: 20 })) },
    }));
    const host = engineOn(store, [type]);
    bench.work(host);
    const runId = await begin(host, { workflowId: await register(host, one) });
    expect(await until(store, runId, ended)).toMatchObject({ status: "failed", error: { code: "interrupt_timeout" } });
  });
});

describe("a node that waits beside one that is at work", () => {
  const branches = workflow({
    nodes: { act: "test.effect", gate: "core.approvalGate", next: "core.noop" },
    edges: ["gate>next"],
  });

  test("goes on when it is answered, and the other is left at its work", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const working = { ...host, localWorker: bench.work(host) };
    const runId = await begin(working, { workflowId: await register(host, branches) });
    await effect.called(1);
    await until(store, runId, ({ status }) => status === "waiting-approval");
    expect(await answer(working, ADA, runId, { action: "accept" })).toMatchObject({
      status: "running",
      resolved: true,
    });
    const run = await until(store, runId, ({ nodes }) => nodes["next"]?.status === "completed");
    expect(run.nodes["act"]).toMatchObject({ status: "executing", attempt: 0 });
    expect(effect.calls[0]?.context.signal.aborted).toBe(false);
    effect.calls[0]?.finish({ type: "completed" });
    expect((await until(store, runId, ended)).status).toBe("completed");
    expect(effect.calls).toHaveLength(1);
  });

  test("keeps waiting when the other ends first", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    bench.work(host);
    const runId = await begin(host, { workflowId: await register(host, branches) });
    await effect.called(1);
    effect.calls[0]?.finish({ type: "completed" });
    const run = await until(store, runId, ({ nodes }) => nodes["act"]?.status === "completed");
    expect(run.status).toBe("waiting-approval");
    await answer(host, ADA, runId, { action: "accept" });
    expect((await until(store, runId, ended)).status).toBe("completed");
  });

  test("is answered no more once the run is being cancelled, while the other has not let go yet", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const worker = workerOn(host, { sweepMs: 60_000 });
    const runId = await begin({ ...host, localWorker: worker }, { workflowId: await register(host, branches) });
    await effect.called(1);
    expect(await cancel(host, ADA, runId)).toMatchObject({ status: "cancelling" });
    expect(await outcomeOf(answer(host, ADA, runId, { action: "accept" }))).toBe("interrupt_cancelled");
    const run = await until(store, runId, ended);
    expect(run).toMatchObject({ status: "cancelled" });
    expect(Object.values(run.interrupts)[0]?.status).toBe("cancelled");
    expect(effect.calls[0]?.context.signal.aborted).toBe(true);
    await worker.stop(0);
    await expectAllRebuilt(store);
  });

  test("is closed with the run when the other fails", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    bench.work(host);
    const runId = await begin(host, { workflowId: await register(host, branches) });
    await effect.called(1);
    effect.calls[0]?.finish({ type: "failed", error: { code: "broken", message: "Broken." } });
    const run = await until(store, runId, ended);
    expect(Object.values(run.interrupts)[0]?.status).toBe("cancelled");
    expect(await outcomeOf(answer(host, ADA, runId, { action: "accept" }))).toBe("interrupt_already_resolved");
    await expectAllRebuilt(store);
  });
});

test.each(["branch", "previous"])(
  "a decision that a branch keeps is not for a gate that shows something as %s",
  (name) => {
    const asking = workflow({ nodes: { gate: { typeId: "core.interrupt", config: { kind: "approval" } } } });
    const { run } = simulate(asking).go();
    const [open] = Object.values(run.interrupts);
    if (open === undefined) throw new Error("the gate has not asked");
    const kept = { ...open, status: "resolved", outcome: "granted", held: true } as const;
    const { answerTo } = interruptsOf({ ...run, interrupts: { [kept.interruptId]: kept } }, "gate");
    const request = { kind: "approval", data: kept.data } as const;
    expect(answerTo(request).outcome).toBe("granted");
    expect(() => answerTo({ ...request, data: { ...kept.data, [name]: "docs" } })).toThrow(Suspension);
  },
);
