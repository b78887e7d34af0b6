import { beforeEach, describe, expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import { Type } from "../../protocol/schema.ts";
import type { Store } from "../../store/port/store.ts";
import { begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { calls, childOf, childrenOf, expectSound, GATE, read } from "../../testing/family.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import type { NodeType } from "../worker/node-type.ts";
import { cancelRun } from "./change-run.ts";

const bench = workbench();
let host: Host;

const quick: NodeType = {
  kind: "effect",
  typeId: "test.quick",
  summary: "Touches the world and is done.",
  config: Type.Object({}, { additionalProperties: true }),
  execute: async () => ({ type: "completed" }),
};

beforeEach(() => {
  host = engineOn(bench.store, [quick]);
});

const NODES = Array.from({ length: 12 }, (_, i) => `call-${i}`);

const fanOut = () =>
  register(host, workflow({ id: "parent", nodes: Object.fromEntries(NODES.map((name) => [name, calls("child")])) }));

async function lastOf({ runId }: Run) {
  return (await logOf(bench.store, runId)).at(-1);
}

describe("cancelling a run whose children never stand still", () => {
  test("ends all of them, each naming the run that was cancelled", { timeout: 30_000 }, async () => {
    await register(
      host,
      workflow({
        id: "child",
        nodes: { act: "test.quick", again: "core.noop" },
        edges: ["act>again", { from: "again", to: "act", condition: { type: "expression", expression: "true" } }],
        settings: { maxLoopbackIterations: 10_000 },
      }),
    );
    await fanOut();
    const busy = { ...host, limits: { maxNodeExecutions: 1_000_000 } };
    bench.work(busy);
    const runId = await begin(busy, { workflowId: "parent" });
    const { children } = await until(bench.store, runId, (run) => Object.keys(run.children).length === NODES.length);
    for (const id of Object.keys(children)) await until(bench.store, id, ({ executions }) => executions > 5);
    const { status } = await cancelRun(busy, change(runId));
    expect(["cancelling", "cancelled"]).toContain(status);
    expect((await until(bench.store, runId, ended)).status).toBe("cancelled");
    for (const [i, { runId: id }] of (await childrenOf(bench.store, runId)).entries()) {
      const child = await until(bench.store, id, ended);
      expect(await lastOf(child)).toMatchObject({
        type: "run.cancelled",
        payload: { reason: "parent-cancelled", parentRunId: runId, parentNodeId: NODES[i] },
      });
    }
    await expectSound(bench.store, runId);
  });

  /** A store in which a run can never be written together with its children: one of them has always just moved. */
  function neverTogether(store: Store, runId: string): Store {
    const commit: Store["commit"] = async (unit) => {
      const [first, other] = unit.runs ?? [];
      if (first?.runId !== runId || other === undefined) return store.commit(unit);
      return { ok: false, refusal: { type: "version", runId: other.runId, version: 0 } };
    };
    return Object.assign(Object.create(store) as Store, { commit });
  }

  test("is left to a worker where it cannot be done in one commit, also when there is none at the time", async () => {
    await register(host, workflow({ id: "child", nodes: { gate: GATE } }));
    await fanOut();
    const first = bench.work(host);
    const runId = await begin(host, { workflowId: "parent" });
    const { children } = await until(bench.store, runId, (run) => Object.keys(run.children).length === NODES.length);
    for (const id of Object.keys(children)) await until(bench.store, id, ({ status }) => status === "waiting-approval");
    await first.stop(0);

    const apart = { ...host, store: neverTogether(bench.store, runId) };
    expect(await cancelRun(apart, change(runId, { reason: "enough" }))).toEqual({ runId, status: "cancelling" });
    expect((await read(bench.store, runId)).status).toBe("cancelling");
    expect(new Set((await childrenOf(bench.store, runId)).map(({ status }) => status))).toEqual(
      new Set(["waiting-approval"]),
    );

    bench.work(host);
    expect(await lastOf(await until(bench.store, runId, ended))).toMatchObject({ payload: { reason: "enough" } });
    for (const child of await childrenOf(bench.store, runId)) {
      expect(await lastOf(child)).toMatchObject({
        type: "run.cancelled",
        payload: { reason: "parent-cancelled", parentRunId: runId },
      });
    }
    await expectSound(bench.store, runId);
  });

  test("leaves no child behind, however often one of them has just moved", { timeout: 30_000 }, async () => {
    await register(host, workflow({ id: "child", nodes: { gate: GATE } }));
    await register(host, workflow({ id: "parent", nodes: { call: calls("child") } }));
    const first = bench.work(host);
    const runId = await begin(host, { workflowId: "parent" });
    const child = await childOf(bench.store, runId, ({ status }) => status === "waiting-approval");
    await first.stop(0);
    await cancelRun({ ...host, store: neverTogether(bench.store, runId) }, change(runId));

    let refusals = 150;
    const commit: Store["commit"] = async (unit) => {
      if (!unit.runs?.some((write) => write.runId === child.runId) || refusals === 0) return bench.store.commit(unit);
      refusals -= 1;
      return { ok: false, refusal: { type: "version", runId: child.runId, version: 0 } };
    };
    bench.work({ ...host, store: { ...bench.store, commit } });
    expect((await until(bench.store, runId, ended)).status).toBe("cancelled");
    expect((await read(bench.store, child.runId)).status).toBe("cancelled");
    await expectSound(bench.store, runId);
  });
});
