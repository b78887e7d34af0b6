import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA, begin, engineOn, logOf, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { expectAllRebuilt } from "../../testing/rebuilt.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { answer, enrol, outcomeOf } from "../../testing/voters.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";

const bench = workbench();
let store: Store;
beforeEach(() => {
  store = bench.store;
});

const HOUR = 3_600_000;
const ACCEPT = { action: "accept" };
const gated = (timeoutMs: number) =>
  workflow({
    nodes: { gate: { typeId: "core.approvalGate", config: { timeoutMs } }, next: "core.noop" },
    edges: ["gate>next"],
  });
const open = (run: { readonly interrupts: object }) => Object.keys(run.interrupts).length > 0;

async function waiting(host: Host, timeoutMs: number): Promise<string> {
  const runId = await begin(host, { workflowId: await register(host, gated(timeoutMs)) });
  await until(host.store, runId, open);
  return runId;
}

const endsOf = async (of: Store, runId: string) =>
  (await logOf(of, runId)).flatMap(({ type, payload }) => (type === "interrupt.resolved" ? [payload] : []));

async function expectClosedByTime(of: Store, runId: string): Promise<void> {
  const run = await until(of, runId, ended);
  expect(run).toMatchObject({ status: "failed", error: { code: "interrupt_timeout" } });
  expect(run.nodes["next"]).toBeUndefined();
  expect(await endsOf(of, runId)).toMatchObject([{ outcome: "rejected", reason: "timeout" }]);
  await expectAllRebuilt(of);
}

describe("a deadline that nobody meets", () => {
  test("is told with the approvals that were asked and those that were given", async () => {
    const host = engineOn(store);
    bench.work(host);
    const config = { timeoutMs: 300, requiredApprovals: 2 };
    const definition = workflow({ id: "two", nodes: { gate: { typeId: "core.approvalGate", config } } });
    const runId = await begin(host, { workflowId: await register(host, definition) });
    await until(store, runId, open);
    expect(await outcomeOf(answer(host, ADA, runId, ACCEPT))).not.toMatch(/^interrupt_/);
    const run = await until(store, runId, ended);
    expect(run.error?.message).toContain("2 approvals asked, 1 given, timed out.");
    expect((await until(store, await waiting(host, 1), ended)).error?.message).toContain(
      "1 approval asked, 0 given, timed out.",
    );
  });

  test("counts no rejection among the approvals that were given", async () => {
    const host = engineOn(store);
    bench.work(host);
    const config = { timeoutMs: 2000, requiredApprovals: 3, rejectionPolicy: "majority" };
    const definition = workflow({ id: "three", nodes: { gate: { typeId: "core.approvalGate", config } } });
    const runId = await begin(host, { workflowId: await register(host, definition) });
    await until(store, runId, open);
    await answer(host, ADA, runId, ACCEPT);
    await answer(host, { ...ADA, principal: "bob" }, runId, { action: "reject" });
    const run = await until(store, runId, ended);
    expect(run.error?.message).toContain("3 approvals asked, 1 given, timed out.");
  });

  test("closes the gate by itself, while a worker sweeps", async () => {
    const host = engineOn(store);
    bench.work(host);
    await expectClosedByTime(store, await waiting(host, 30));
  });

  test("closes the gate when somebody comes too late, where nobody sweeps", async () => {
    const host = hostAt(store);
    const worker = workerOn(host);
    const runId = await waiting(host, HOUR);
    await worker.stop(0);
    host.pass(HOUR);
    expect(await outcomeOf(answer(host, ADA, runId, ACCEPT))).toBe("interrupt_already_resolved");
    expect(await endsOf(store, runId)).toMatchObject([{ outcome: "rejected", reason: "timeout" }]);
    const audit = await store.readAudit("t1", 1, 1000, 1000);
    expect(audit.map(({ action }) => action)).toContain("interrupt.timed_out");
    expect(audit.map(({ action }) => action)).not.toContain("interrupt.voted");
    bench.work(host);
    await expectClosedByTime(store, runId);
  });

  test("closes the gate while a node of another branch is at work in the same hands", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    bench.work(host);
    const branches = workflow({
      nodes: {
        act: "test.effect",
        gate: {
          typeId: "core.openwop.governance.approvalGate",
          config: { requiredRole: "reviewer", timeoutSec: 0.05 },
        },
        late: "core.noop",
      },
      edges: [{ from: "gate", to: "late", condition: { type: "falsy", left: "output.approved" } }],
    });
    const runId = await begin(host, { workflowId: await register(host, branches) });
    await effect.called(1);
    const run = await until(store, runId, ({ nodes }) => nodes["late"]?.status === "completed");
    expect(run.nodes["act"]?.status).toBe("executing");
    effect.calls[0]?.finish({ type: "completed" });
    expect((await until(store, runId, ended)).status).toBe("completed");
    expect(effect.calls).toHaveLength(1);
  });

  test("is not met by an answer that arrives with it: the interrupt ends once", async () => {
    const host = hostAt(store);
    const runs = [];
    const worker = workerOn(host);
    for (let n = 0; n < 20; n++) runs.push(await waiting(host, HOUR));
    host.pass(HOUR);
    const refused = await Promise.all(runs.map((runId) => outcomeOf(answer(host, ADA, runId, ACCEPT))));
    expect(new Set(refused)).toEqual(new Set(["interrupt_already_resolved"]));
    for (const runId of runs) await expectClosedByTime(store, runId);
    await worker.stop(0);
  });
});

describe("a deadline across a restart", () => {
  /** The gate is open, and the host goes down; it comes back after so much time. */
  async function restarted(timeoutMs: number, awayMs: number) {
    const path = join(tempDir(), "assay.db");
    const first = await openSqliteStore({ path });
    await enrol(first, ADA.principal, { roles: ["owner"] });
    const before = hostAt(first);
    const worker = workerOn(before);
    const runId = await waiting(before, timeoutMs);
    await worker.stop(0);
    await first.close();
    const again = await openSqliteStore({ path });
    return { runId, store: again, host: hostAt(again, before.nowMs() + awayMs) };
  }

  test("that passed meanwhile closes the gate as soon as a worker runs", async () => {
    const { runId, store: again, host } = await restarted(HOUR, 2 * HOUR);
    const worker = workerOn(host);
    await expectClosedByTime(again, runId);
    await worker.stop(0);
    await again.close();
  });

  test("that passed meanwhile closes the gate to whoever is faster than the worker", async () => {
    const { runId, store: again, host } = await restarted(HOUR, HOUR);
    expect(await outcomeOf(answer(host, ADA, runId, ACCEPT))).toBe("interrupt_already_resolved");
    const worker = workerOn(host);
    await expectClosedByTime(again, runId);
    await worker.stop(0);
    await again.close();
  });

  test("that is still to come is still to come", async () => {
    const { runId, store: again, host } = await restarted(HOUR, HOUR - 1);
    const worker = workerOn(host);
    expect(await outcomeOf(answer(host, ADA, runId, ACCEPT))).toBe("ok");
    expect((await until(again, runId, ended)).status).toBe("completed");
    await expectAllRebuilt(again);
    await worker.stop(0);
    await again.close();
  });
});

describe("a decision across a restart", () => {
  test("that was durable before the run went on is carried out, once", async () => {
    const path = join(tempDir(), "assay.db");
    const first = await openSqliteStore({ path });
    const host = engineOn(first);
    const worker = workerOn(host);
    const runId = await waiting(host, HOUR);
    await worker.stop(0);
    expect(await outcomeOf(answer(host, ADA, runId, ACCEPT))).toBe("ok");
    await first.close();

    const again = await openSqliteStore({ path });
    const resumed = workerOn(engineOn(again));
    expect((await until(again, runId, ended)).status).toBe("completed");
    expect(await endsOf(again, runId)).toMatchObject([{ outcome: "granted" }]);
    const types = (await logOf(again, runId)).map(({ type }) => type);
    expect(types.filter((type) => type === "interrupt.requested" || type === "node.resumed")).toHaveLength(2);
    await expectAllRebuilt(again);
    await resumed.stop(0);
    await again.close();
  });

  test("that is one vote of two is one vote of two", async () => {
    const path = join(tempDir(), "assay.db");
    const first = await openSqliteStore({ path });
    const ana = await enrol(first, "ana");
    const ben = await enrol(first, "ben");
    const host = engineOn(first);
    const worker = workerOn(host);
    const config = { approversList: ["ana", "ben"], requiredApprovals: 2 };
    const two = workflow({ nodes: { gate: { typeId: "core.approvalGate", config } } });
    const runId = await begin(host, { workflowId: await register(host, two) });
    await until(first, runId, open);
    await answer(host, ana, runId, ACCEPT);
    await worker.stop(0);
    await first.close();

    const again = await openSqliteStore({ path });
    const later = engineOn(again);
    const resumed = workerOn(later);
    expect(await answer(later, ana, runId, ACCEPT)).toMatchObject({ resolved: false, tally: { granted: 1 } });
    expect(await answer(later, ben, runId, ACCEPT)).toMatchObject({ resolved: true });
    expect((await until(again, runId, ended)).status).toBe("completed");
    await resumed.stop(0);
    await again.close();
  });
});
