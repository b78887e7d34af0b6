import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHAIN_EVENT } from "../../protocol/runs/orchestrator.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { dyingAt } from "../../testing/dying-store.ts";
import { ADA, begin, engineOn, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { childrenOf, expectSound } from "../../testing/family.ts";
import { told } from "../../testing/forks.ts";
import { DONE, next, orchestrated } from "../../testing/orchestration.ts";
import { ended } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { supervisor } from "../nodes/supervisor.ts";
import { forkRun } from "../runs/fork-run.ts";
import type { Worker } from "../worker/worker.ts";

const PLAN = [next("one", "two"), next("one"), DONE];
const record = () => undefined;

describe.each(BOTH_STORES)("a supervised run on %s", (name, open) => {
  // Each commit on the one, and some on the other: what they promise about a commit is the same.
  const stride = name === "SQLite" ? 1 : 5;

  let store: Store;
  let drop: () => Promise<void>;
  let host: Host;
  let asked: number;
  const workers: Worker[] = [];

  beforeEach(async () => {
    ({ store, drop } = await open());
    asked = 0;
    const boss = supervisor({
      async decide({ turn }) {
        asked += 1;
        return { decision: PLAN[turn - 1] };
      },
    });
    host = engineOn(store, [{ ...boss, onlyNamesAgent: () => true }]);
    for (const id of ["one", "two"]) {
      const variables = [{ name: "word", type: "string" as const, defaultValue: id }];
      await register(host, workflow({ id, nodes: { only: "core.noop" }, variables }));
    }
    await register(
      host,
      orchestrated({
        boss: {
          agent: { agentId: "test.leader" },
          config: { workers: [{ workflowId: "one" }, { workflowId: "two" }] },
        },
        dispatch: { outputMapping: { last: "word" } },
      }),
    );
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await store.close();
    await drop();
  });

  test("hands out no work twice and decides nothing twice, whichever commit its worker dies at", async () => {
    for (const written of [false, true]) {
      for (let n = 1; ; n += stride) {
        const dying = dyingAt(host.store, n, written);
        const runId = await begin(host, { workflowId: "led" });
        const doomed = workerOn({ ...host, store: dying.store }, { leaseMs: 50, renewMs: 600_000, sweepMs: 5 });
        await until(store, runId, (run) => dying.died() || ended(run));
        const rescuer = workerOn(host, { leaseMs: 50, renewMs: 20, sweepMs: 5 });
        const run = await until(store, runId, ended);
        expect(run).toMatchObject({ status: "completed", variables: { last: "one" }, orchestrator: { turns: 3 } });
        const children = await childrenOf(store, runId);
        expect(children.map(({ workflowId }) => workflowId)).toEqual(["one", "two", "one"]);
        const log = await logOf(store, runId);
        expect(log.filter(({ type }) => type === "runOrchestrator.decided")).toHaveLength(3);
        expect(log.filter(({ type }) => type === CHAIN_EVENT)).toHaveLength(12);
        await expectSound(store, runId);
        void doomed.stop(0);
        await rescuer.stop(0);
        if (!dying.died()) break;
      }
    }
  });

  test("is replayed word for word, and nobody is asked and nothing started again", async () => {
    workers.push(workerOn(host));
    const runId = await begin(host, { workflowId: "led" });
    await until(store, runId, ended);
    const source = await logOf(store, runId);
    for (const fromSeq of [0, 7, 15, source.length - 1]) {
      const request = { mode: "replay" as const, fromSeq };
      const replay = await forkRun(host, { caller: ADA, runId, request, record });
      const run = await until(store, replay.runId, ended);
      const log = await logOf(store, replay.runId);
      expect(told(log)).toEqual(told(source));
      expect(run).toMatchObject({ status: "completed", variables: { last: "one" } });
      const chain = log.filter(({ type }) => type === CHAIN_EVENT);
      const ids = new Set(log.map(({ eventId }) => eventId));
      for (const { causationId } of chain) if (causationId !== undefined) expect(ids).toContain(causationId);
    }
    expect(asked).toBe(3);
    expect(await store.allRunIds("", 1000)).toHaveLength(1 + 3 + 4);
  });

  test("goes on in a branch from a decision that was made, and its workers are new runs", async () => {
    workers.push(workerOn(host));
    const runId = await begin(host, { workflowId: "led" });
    const source = await until(store, runId, ended);
    const log = await logOf(store, runId);
    const decided = log.findIndex(({ type, nodeId }) => type === "node.completed" && nodeId === "boss") + 1;
    const request = { mode: "branch" as const, fromSeq: decided };
    const branch = await forkRun(host, { caller: ADA, runId, request, record });
    const run = await until(store, branch.runId, ended);
    expect(run).toMatchObject({ status: "completed", orchestrator: { turns: 3 } });
    expect(Object.keys(run.children)).toHaveLength(3);
    expect(Object.keys(run.children).some((id) => Object.hasOwn(source.children, id))).toBe(false);
    // The first decision is history; the other two were made anew.
    expect(asked).toBe(5);
  });
});
