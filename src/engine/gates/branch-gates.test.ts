import { beforeEach, describe, expect, test } from "vitest";
import type { ForkRunFurtherRequest } from "../../protocol/runs/fork-api.ts";
import { openInterrupts, type Run } from "../../protocol/runs/run.ts";
import { begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { accept, childOf, childrenOf, expectSound, GATE } from "../../testing/family.ts";
import { countedEffect } from "../../testing/fork-host.ts";
import { DONE, next, orchestrated } from "../../testing/orchestration.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { forkRun } from "../runs/fork-run.ts";
import { PlanFacts } from "../workflows/plan-facts.ts";
import { resolveInterrupt } from "./resolve-interrupt.ts";

const bench = workbench();
let host: Host;

beforeEach(() => {
  const base = engineOn(bench.store);
  const counted = countedEffect("test.counted");
  host = { ...base, nodeTypes: new Map([...base.nodeTypes, [counted.typeId, counted]]) };
});

const waits = (runId: string): Promise<Run> => until(bench.store, runId, ({ status }) => status.startsWith("waiting-"));
const fork = async (runId: string, request: ForkRunFurtherRequest): Promise<string> =>
  (await forkRun(host, { ...change(runId), request })).runId;
const answer = (runId: string, nodeId: string, value: unknown) =>
  resolveInterrupt(host, { ...change(runId), of: { nodeId }, value });

/** The sequence of the last event of this type and node. */
async function lastOf(runId: string, type: string, nodeId: string): Promise<number> {
  const found = (await logOf(bench.store, runId)).findLast((event) => event.type === type && event.nodeId === nodeId);
  return found?.sequence ?? Number.NaN;
}

describe("a gate of a worker that a supervisor handed out", () => {
  async function led(): Promise<string> {
    await register(host, workflow({ id: "asks", nodes: { gate: GATE } }));
    const workflowId = await register(host, orchestrated({ plan: [next("asks"), DONE] }));
    bench.work(host);
    const runId = await begin(host, { workflowId });
    const child = await childOf(bench.store, runId, ({ status }) => status === "waiting-approval");
    await accept(host, child.runId);
    await until(bench.store, runId, ended);
    return runId;
  }

  test("asks again in a branch from the same round", async () => {
    const source = await led();
    const [first] = await childrenOf(bench.store, source);
    const log = await logOf(bench.store, source);
    const fromSeq = log.findIndex(({ type, nodeId }) => type === "node.completed" && nodeId === "do") + 1;
    const runId = await fork(source, { mode: "branch", fromSeq });
    const child = await childOf(bench.store, runId, ({ status }) => status === "waiting-approval");
    expect(child.runId).not.toBe(first?.runId);
    await accept(host, child.runId);
    expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed" });
    await expectSound(bench.store, runId);
  });

  test("asks again in a branch from a later round", async () => {
    const source = await led();
    const fromSeq = await lastOf(source, "node.completed", "do");
    const runId = await fork(source, { mode: "branch", fromSeq: fromSeq + 1 });
    const child = await childOf(bench.store, runId, ({ status }) => status === "waiting-approval");
    await accept(host, child.runId);
    expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed" });
    await expectSound(bench.store, runId);
  });
});

describe("a wait for an external event", () => {
  test("is over in a branch that waits for the same event, and not in one that waits for another", async () => {
    const wait = {
      typeId: "core.interrupt",
      config: { kind: "external-event", data: { eventType: "paid" } },
      inputs: { correlation: { type: "variable", variableName: "order" } },
    } as const;
    const workflowId = await register(
      host,
      workflow({
        id: "paid",
        nodes: { wait, count: "test.counted" },
        edges: ["wait>count"],
        variables: [{ name: "order", type: "object", defaultValue: { id: 7 } }],
      }),
    );
    bench.work(host);
    const source = await begin(host, { workflowId });
    await waits(source);
    await answer(source, "wait", { id: 7 });
    await until(bench.store, source, ended);
    const fromSeq = await lastOf(source, "node.started", "count");
    const same = await fork(source, { mode: "branch", fromSeq });
    expect(await until(bench.store, same, ended)).toMatchObject({ status: "completed" });
    const inputs = { order: { id: 8 } };
    const other = await fork(source, { mode: "branch", fromSeq, runOptionsOverlay: { inputs } });
    const [open] = openInterrupts(await waits(other));
    expect(open?.data).toMatchObject({ correlation: { id: 8 } });
  });
});

describe("a replay", () => {
  test("of a branch whose gate asked again, and of its source's rounds, does not diverge", async () => {
    const gate = { ...GATE, config: { actions: ["accept", "refine"], requireBoundVotes: false } };
    const workflowId = await register(
      host,
      workflow({
        id: "rounds",
        nodes: { draft: "core.noop", gate, count: "test.counted" },
        edges: [
          "draft>gate",
          { from: "gate", to: "draft", condition: { type: "equals", left: "output.decision", right: "refined" } },
          { from: "gate", to: "count", condition: { type: "equals", left: "output.decision", right: "granted" } },
        ],
      }),
    );
    bench.work(host);
    const source = await begin(host, { workflowId });
    await waits(source);
    await answer(source, "gate", { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } });
    await until(bench.store, source, (run) => openInterrupts(run).some(({ key }) => key === "gate:1"));
    await accept(host, source);
    await until(bench.store, source, ended);
    const branch = await fork(source, { mode: "branch", fromSeq: await lastOf(source, "node.started", "count") });
    await waits(branch);
    await accept(host, branch);
    await until(bench.store, branch, ended);
    for (const original of [source, branch]) {
      for (const fromSeq of [0, 5, (await logOf(bench.store, original)).length - 1]) {
        const runId = await fork(original, { mode: "replay", fromSeq });
        expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed" });
        const types = (await logOf(bench.store, runId)).map(({ type }) => type);
        expect(types).not.toContain("replay.diverged");
      }
    }
  });
});

describe("whether effects follow a node", () => {
  test("is yes where it cannot be known, and no where all that follows only computes", async () => {
    await register(host, workflow({ id: "acts", nodes: { act: "test.counted" } }));
    await register(host, workflow({ id: "computes", nodes: { only: "core.noop" } }));
    const itself = { typeId: "core.subWorkflow", config: { workflowId: "itself" } };
    await register(host, workflow({ id: "itself", nodes: { itself } }));
    const facts = new PlanFacts(host, "t1");
    const effectsFollow = async (id: string, node: object | string, edges = ["gate>after"]) => {
      const definition = workflow({ id, nodes: { before: "test.counted", gate: GATE, after: node as never }, edges });
      return facts.actsAfter(await host.plans.byHash(await hashOf(definition)), "gate");
    };
    const hashOf = async (definition: ReturnType<typeof workflow>) => {
      await bench.store.commit({
        tenant: "t1",
        workflows: [
          {
            tenant: "t1",
            workflowId: definition.id,
            hash: definition.id,
            definition: JSON.stringify(definition),
            atMs: 1,
          },
        ],
      });
      return definition.id;
    };
    const sub = (workflowId: string) => ({ typeId: "core.subWorkflow", config: { workflowId } });
    expect(await effectsFollow("f1", "core.noop")).toBe(false);
    expect(await effectsFollow("f2", "test.counted")).toBe(true);
    expect(await effectsFollow("f3", { typeId: "test.counted", disabled: true })).toBe(false);
    expect(await effectsFollow("f4", "vendor.unknown")).toBe(true);
    expect(await effectsFollow("f5", sub("computes"))).toBe(false);
    expect(await effectsFollow("f6", sub("acts"))).toBe(true);
    expect(await effectsFollow("f7", sub("not-registered"))).toBe(true);
    expect(await effectsFollow("f8", sub("itself"))).toBe(false);
    expect(await effectsFollow("f9", "core.dispatch")).toBe(true);
    expect(await effectsFollow("f10", "core.noop", ["before>gate", "gate>after", "gate>before"])).toBe(true);
  });
});
