import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, begin, engineOn, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { told } from "../../testing/forks.ts";
import { expectRebuilt } from "../../testing/rebuilt.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { withEffect } from "../runs/effects.ts";
import { forkRun } from "../runs/fork-run.ts";
import { stamp } from "../runs/stamp.ts";
import type { Worker } from "../worker/worker.ts";

const record = () => undefined;

describe.each(BOTH_STORES)("a replay on %s", (_, open) => {
  let store: Store;
  let drop: () => Promise<void>;
  let host: Host;
  const workers: Worker[] = [];

  beforeEach(async () => {
    ({ store, drop } = await open());
    host = engineOn(store);
    const nodes = Object.fromEntries(Array.from({ length: 20 }, (_unused, i) => [`n${i}`, "core.noop"]));
    await register(host, workflow({ id: "twenty", nodes }));
    await register(host, workflow({ id: "sleeps", nodes: { nap: { typeId: "core.delay", config: { ms: 600_000 } } } }));
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await store.close();
    await drop();
  });

  const work = (on: Host = host, settings = {}) => workers.push(workerOn(on, settings));
  const ended = (runId: string) => until(store, runId, ({ status }) => isTerminal(status));
  const fork = (runId: string, mode: "replay" | "branch", fromSeq: number) =>
    forkRun(host, { caller: ADA, runId, request: { mode, fromSeq }, record });

  async function twenty(): Promise<string> {
    const runId = await begin(host, { workflowId: "twenty" });
    work();
    await ended(runId);
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    return runId;
  }

  test("whose worker dies at its commit is executed by another one, and nothing is in its log twice", async () => {
    const source = await twenty();
    const { runId } = await fork(source, "replay", 5);
    let tried = 0;
    const dying: Store = {
      ...store,
      commit: async (unit) => {
        if (!unit.runs?.some(({ run, events }) => isReplay(run) && events.length > 0)) return store.commit(unit);
        tried += 1;
        return new Promise(() => {});
      },
    };
    const leaseMs = 200;
    const doomed = workerOn({ ...host, store: dying }, { leaseMs, renewMs: 600_000 });
    await until(store, runId, () => tried > 0);
    work(host, { leaseMs });
    await ended(runId);
    expect(told(await logOf(store, runId))).toEqual(told(await logOf(store, source)));
    await expectRebuilt(store, runId);
    void doomed.stop(0);
  });

  test("waits out a database that does not answer", async () => {
    const source = await twenty();
    const { runId } = await fork(source, "replay", 0);
    let failures = 2;
    const shaky: Store = {
      ...store,
      commit: async (unit) => {
        if (unit.runs?.some(({ run }) => isReplay(run)) && failures-- > 0) {
          throw new AppError("unavailable", { reason: "the database is away" });
        }
        return store.commit(unit);
      },
    };
    work({ ...host, store: shaky });
    await ended(runId);
    expect(failures).toBeLessThan(0);
    expect(told(await logOf(store, runId))).toEqual(told(await logOf(store, source)));
  });

  test("has no effect, whoever tries to have one for it", async () => {
    const { runId } = await fork(await twenty(), "replay", 0);
    const fired: string[] = [];
    const effect = {
      tenantId: "t1",
      runId,
      nodeId: "n0",
      ordinal: 0,
      providerKey: "mail:send",
      claimedBy: "somebody",
      providerAcceptsIdentity: true,
    };
    const result = await withEffect(host, effect, async (id) => {
      fired.push(id);
      return { type: "succeeded", value: 1 };
    });
    expect(result).toMatchObject({ type: "failed", error: { code: "replay_source_missing", retryable: false } });
    expect(fired).toEqual([]);
  });

  test("of fifty thousand events, and a branch of them, are made and executed", { timeout: 120_000 }, async () => {
    const source = await begin(host, { workflowId: "sleeps" });
    work();
    await until(store, source, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await lengthen(source, 50_000);
    const replay = await fork(source, "replay", 0);
    const branch = await fork(source, "branch", 50_000);
    work();
    const { version } = await ended(replay.runId);
    expect(version).toBe(50_002);
    await until(store, branch.runId, ({ nodes }) => nodes["nap"]?.status === "sleeping");
    const [last] = await store.readEvents(branch.runId, 50_000, 1);
    expect(last?.type).toBe("assay.branch.began");
  });

  /** Somebody who may not keeps trying. */
  async function lengthen(runId: string, length: number): Promise<void> {
    for (;;) {
      const run = await store.readRun({ tenant: "t1" }, runId);
      if (run === undefined || run.version >= length) return;
      const refused: EventDraft = {
        type: "authorization.decided",
        payload: { principal: "sam", action: "approvals:respond", resource: "interrupt:none", allowed: false },
      };
      const drafts = Array.from({ length: Math.min(5000, length - run.version) }, () => refused);
      const next = stamp(run, drafts, { runId, nowMs: Date.now(), newId: host.newId });
      const write = { runId, expectedVersion: run.version, ...next };
      expect(await store.commit({ tenant: "t1", runs: [write] })).toEqual({ ok: true });
    }
  }
});
