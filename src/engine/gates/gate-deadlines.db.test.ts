import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { ADA, begin, engineOn, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { expectAllRebuilt } from "../../testing/rebuilt.ts";
import { upTo } from "../../testing/store-contract/subject.ts";
import { answer, outcomeOf } from "../../testing/voters.ts";
import { ended } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Worker } from "../worker/worker.ts";

let database: TestDatabase;
let stores: Store[];
let workers: Worker[];
beforeEach(async () => {
  database = await createDatabase();
  const store = await openPostgresStore({ url: database.url, poolSize: 4 });
  stores = [store, await openPostgresStore({ url: database.url, poolSize: 4 })];
  workers = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const gated = workflow({
  nodes: { gate: { typeId: "core.approvalGate", config: { timeoutMs: 100 } }, next: "core.noop" },
  edges: ["gate>next"],
});

describe("two hosts that sweep one database", () => {
  test("close every gate that is due once, whoever comes first", async () => {
    const hosts = stores.map((store) => engineOn(store));
    workers = hosts.map((host) => workerOn(host));
    const [host, other] = hosts as [(typeof hosts)[0], (typeof hosts)[0]];
    const workflowId = await register(host, gated);
    const runIds = await Promise.all(upTo(20).map((n) => begin(n % 2 === 0 ? host : other, { workflowId })));
    const answers = runIds.slice(0, 10).map(async (runId) => {
      const { interrupts } = await until(host.store, runId, (run) => Object.keys(run.interrupts).length > 0);
      const { deadlineMs = 0 } = Object.values(interrupts)[0] ?? {};
      await new Promise((resolve) => setTimeout(resolve, deadlineMs - Date.now() + 5));
      return outcomeOf(answer(other, ADA, runId, { action: "accept" }));
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["interrupt_already_resolved"]));
    for (const runId of runIds) {
      const run = await until(host.store, runId, ended);
      expect(run).toMatchObject({ status: "failed", error: { code: "interrupt_timeout" } });
      const log = await logOf(other.store, runId);
      expect(log.filter(({ type }) => type === "interrupt.resolved")).toHaveLength(1);
    }
    await expectAllRebuilt(host.store);
  });

  test("go on without the one that stopped", async () => {
    const hosts = stores.map((store) => engineOn(store));
    const first = workerOn(hosts[0] as (typeof hosts)[0]);
    const [host, other] = hosts as [(typeof hosts)[0], (typeof hosts)[0]];
    const runId = await begin(host, { workflowId: await register(host, gated) });
    await until(host.store, runId, (run) => Object.keys(run.interrupts).length > 0);
    await first.stop(0);
    workers = [workerOn(other)];
    expect((await until(other.store, runId, ended)).error?.code).toBe("interrupt_timeout");
  });
});
