import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventDraft } from "../../protocol/events.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { begin, engineOn, register, until, workerOn } from "../../testing/engine.ts";
import { expectAllRebuilt } from "../../testing/rebuilt.ts";
import { workflow } from "../../testing/workflow.ts";
import { changeRun } from "../families/family.ts";
import type { Host } from "../host.ts";
import { correctTimes, steadyClock } from "../worker/steady-clock.ts";
import type { Worker } from "../worker/worker.ts";

const HOUR = 3_600_000;
const YEAR = 8766 * HOUR;
const START = Date.parse("2027-03-01T12:00:00.000Z");

describe.each(BOTH_STORES)("a host that is started after its wall clock was set back, on %s", (name, open) => {
  let store: Store;
  let drop: () => Promise<void>;
  let worker: Worker | undefined;
  let wallMs = START;

  beforeEach(async () => {
    ({ store, drop } = await open());
    wallMs = START;
  });
  afterEach(async () => {
    await worker?.stop(0);
    worker = undefined;
    await store.close();
    await drop();
  });

  /** A host whose wall clock stands where the test has set it. */
  const startHost = async (): Promise<Host> => {
    const nowMs = steadyClock(
      () => wallMs,
      () => wallMs,
    );
    nowMs.notBefore((await store.newestQueuedMs()) ?? 0);
    return { ...engineOn(store), nowMs };
  };

  /** A run that has come to wait when the host was stopped. */
  const waitingRun = async (nodes: Parameters<typeof workflow>[0]["nodes"]): Promise<string> => {
    const host = await startHost();
    const workflowId = await register(host, workflow({ id: "waits", nodes }));
    worker = workerOn(host);
    const runId = await begin(host, { workflowId });
    await until(store, runId, (run) => ["sleeping", "suspended"].includes(run.nodes["wait"]?.status ?? ""));
    await worker.stop(0);
    worker = undefined;
    return runId;
  };
  const dueIn = async (host: Host, runId: string) => {
    const run = await store.readRun({ tenant: "t1" }, runId);
    return (run?.nodes["wait"]?.dueAtMs ?? 0) - host.nowMs();
  };

  test("by hours: time goes on from what is recorded, and a run sleeps no longer than it had to", async () => {
    const runId = await waitingRun({ wait: { typeId: "core.delay", config: { ms: HOUR } } });
    wallMs -= 5 * HOUR;
    const host = await startHost();
    expect(host.nowMs()).toBe(START);
    expect(await correctTimes(host)).toBe(0);
    expect(await dueIn(host, runId)).toBe(HOUR);
    worker = workerOn(host);
    wallMs += 2 * HOUR;
    expect((await until(store, runId, ({ status }) => status === "completed")).status).toBe("completed");
  });

  test("by years: time is that of the wall clock, and a run sleeps as long as it had to when it was written", async () => {
    wallMs = START + 10 * YEAR;
    const runId = await waitingRun({ wait: { typeId: "core.delay", config: { ms: HOUR } } });
    wallMs = START;
    const host = await startHost();
    expect(host.nowMs()).toBe(START);
    expect(await correctTimes(host)).toBe(1);
    expect(await correctTimes(host)).toBe(0);
    expect(await dueIn(host, runId)).toBe(HOUR);
    await expectAllRebuilt(store);
    worker = workerOn(host);
    wallMs += 2 * HOUR;
    expect((await until(store, runId, ({ status }) => status === "completed")).status).toBe("completed");
  });

  test("by years: a gate has as long to be answered as when it was raised", async () => {
    wallMs = START + 10 * YEAR;
    const config = { title: "Ship it?", timeoutMs: HOUR };
    const runId = await waitingRun({ wait: { typeId: "core.approvalGate", config } });
    wallMs = START;
    const host = await startHost();
    expect(await correctTimes(host)).toBe(1);
    expect(await dueIn(host, runId)).toBe(HOUR);
    expect((await store.interruptRows(runId)).interrupts).toMatchObject([{ deadline: START + HOUR }]);
    await expectAllRebuilt(store);
  });

  test("by years: a deadline that was set before the clock was wrong stays", async () => {
    const config = { title: "Ship it?", timeoutMs: 30 * 24 * HOUR };
    const runId = await waitingRun({ wait: { typeId: "core.approvalGate", config } });
    wallMs = START + 10 * YEAR;
    const run = await store.readRun({ tenant: "t1" }, runId);
    if (run === undefined) throw new Error("the run is gone");
    const pause: EventDraft = {
      type: "assay.pause.requested",
      payload: { by: "ada", drainPolicy: "drain-current-node" },
    };
    await changeRun({ ...engineOn(store), nowMs: () => wallMs }, run, () => [pause]);
    wallMs = START + HOUR;
    const host = await startHost();
    expect(await correctTimes(host)).toBe(1);
    expect(await dueIn(host, runId)).toBe((30 * 24 - 1) * HOUR);
    await expectAllRebuilt(store);
  });

  test("by a clock that was never set: no run is corrected by it", async () => {
    const runId = await waitingRun({ wait: { typeId: "core.delay", config: { ms: HOUR } } });
    const right = await startHost();
    wallMs = Date.parse("1970-01-02T00:00:00.000Z");
    expect(await correctTimes(await startHost())).toBe(0);
    expect(await dueIn(right, runId)).toBe(HOUR);
  });

  test("by days, and the database server says that its runs are right: no run is corrected", async () => {
    wallMs = Date.now();
    const runId = await waitingRun({ wait: { typeId: "core.delay", config: { ms: HOUR } } });
    const right = await startHost();
    const due = await dueIn(right, runId);
    wallMs -= 3 * 24 * HOUR;
    const behind = await startHost();
    // SQLite has no clock of its own: the one host on the file cannot know better.
    expect(await correctTimes(behind)).toBe(name === "SQLite" ? 1 : 0);
    if (name !== "SQLite") expect(await dueIn(right, runId)).toBeLessThanOrEqual(due);
  });
});
