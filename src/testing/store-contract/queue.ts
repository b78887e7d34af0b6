import { describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Claim, Store } from "../../store/port/store.ts";
import {
  type Built,
  NOW,
  newTenant,
  next,
  nodeSleeps,
  nodeStarted,
  runCompleted,
  runWrite,
  startedRun,
} from "../builders.ts";
import { accept, idsOf, refused, type Subject, save, upTo } from "./subject.ts";

const LEASE_MS = 10_000;

function claim(owner: string, nowMs = NOW, more: Partial<Claim> = {}): Claim {
  return { owner, nowMs, untilMs: nowMs + LEASE_MS, limit: 100, engineVersion: ENGINE_VERSION, ...more };
}

async function started(store: Store, atMs = NOW, engineVersion = ENGINE_VERSION): Promise<Built> {
  const built = startedRun({ tenant: newTenant(), atMs, engineVersion });
  await save(store, built);
  return built;
}

async function write(store: Store, built: Built, more: Parameters<typeof runWrite>[1]) {
  return store.commit({ tenant: built.run.owner.tenant, runs: [runWrite(built, more)] });
}

export function queue(subject: Subject): void {
  describe("a claim", () => {
    test("leases a due run, which nobody else gets until the lease is over", async () => {
      const { store } = subject;
      const { run } = await started(store);
      expect(await store.claimRuns(claim("worker-1"))).toEqual([run]);
      expect(await store.claimRuns(claim("worker-2"))).toEqual([]);
      expect(await store.claimRuns(claim("worker-1"))).toEqual([]);
      expect(await store.claimRuns(claim("worker-2", NOW + LEASE_MS - 1))).toEqual([]);
      expect(await store.claimRuns(claim("worker-2", NOW + LEASE_MS))).toEqual([run]);
    });

    test("can ask for runs by the size of their stored state, so that large ones are not read with small ones", async () => {
      const { store } = subject;
      const small = await started(store);
      const large = startedRun({ tenant: newTenant(), inputs: { text: "x".repeat(5000) } });
      await save(store, large);
      const sized = (stateBytes: NonNullable<Claim["stateBytes"]>) =>
        store.claimRuns(claim("worker-1", NOW, { stateBytes }));
      expect(await sized({ upTo: 100 })).toEqual([]);
      expect(await sized({ upTo: 5000 })).toEqual([small.run]);
      expect(await sized({ above: 5000 })).toEqual([large.run]);
    });

    test("does not get a run before it is due", async () => {
      const { store } = subject;
      const asleep = next(await started(store), NOW, nodeStarted(), nodeSleeps(500));
      await save(store, asleep);
      expect(await store.claimRuns(claim("worker-1", NOW + 499))).toEqual([]);
      expect(await store.claimRuns(claim("worker-1", NOW + 500))).toEqual([asleep.run]);
    });

    test("never gets a run that has ended", async () => {
      const { store } = subject;
      await save(store, next(await started(store), NOW, runCompleted()));
      expect(await store.claimRuns(claim("worker-1", NOW + LEASE_MS))).toEqual([]);
    });

    test("gets the runs that have been due longest first, and no more than it asks for", async () => {
      const { store } = subject;
      const delays = [30, 10, 40, 0, 20];
      const built = await Promise.all(delays.map((delay) => started(store, NOW + delay)));
      const oldestFirst = [3, 1, 4, 0, 2].map((index) => built[index]?.run);
      expect(await store.claimRuns(claim("worker-1", NOW + 100, { limit: 2 }))).toEqual(oldestFirst.slice(0, 2));
      expect(await store.claimRuns(claim("worker-2", NOW + 100, { limit: 100 }))).toEqual(oldestFirst.slice(2));
    });

    test("never shares a run with another claim", async () => {
      const { store } = subject;
      const runIds = idsOf((await Promise.all(upTo(40).map(() => started(store)))).map(({ run }) => run));
      const work = async (owner: string): Promise<Run[]> => {
        const got: Run[] = [];
        while (got.length < runIds.length) {
          const more = await store.claimRuns(claim(owner, NOW, { limit: 3 }));
          // A claim passes over rows that another one is just taking, so one empty answer is not the end.
          if (more.length === 0 && (await store.nextWakeAtMs(NOW, ENGINE_VERSION)) === undefined) return got;
          got.push(...more);
        }
        return got;
      };
      const got = await Promise.all(["w1", "w2", "w3", "w4", "w5"].map(work));
      expect(idsOf(got.flat()).sort()).toEqual([...runIds].sort());
    });

    test("leaves runs of a newer engine for a newer host", async () => {
      const { store } = subject;
      const { run } = await started(store, NOW, ENGINE_VERSION + 1);
      expect(await store.claimRuns(claim("worker-1"))).toEqual([]);
      expect(await store.claimRuns(claim("worker-2", NOW, { engineVersion: ENGINE_VERSION + 1 }))).toEqual([run]);
    });

    test("gets the run as the last write left it", async () => {
      const { store } = subject;
      const first = await started(store);
      await store.claimRuns(claim("worker-1"));
      const more = next(first, NOW + 1, nodeStarted());
      await write(store, more, { heldBy: "worker-1" });
      expect(await store.claimRuns(claim("worker-2", NOW + LEASE_MS))).toEqual([more.run]);
    });
  });

  describe("a lease", () => {
    test("lets its holder write and refuses a worker that lost its run", async () => {
      const { store } = subject;
      const first = await started(store);
      const { runId } = first.run;
      await store.claimRuns(claim("worker-1"));
      const second = next(first, NOW + 1, nodeStarted());
      expect(await write(store, second, { heldBy: "worker-1" })).toEqual({ ok: true });

      await store.claimRuns(claim("worker-2", NOW + LEASE_MS));
      const third = next(second, NOW + 2, nodeStarted("b"));
      expect(await write(store, third, { heldBy: "worker-1" })).toEqual({
        ok: false,
        refusal: { type: "lease", runId },
      });
      expect(await write(store, third, { heldBy: "worker-2" })).toEqual({ ok: true });
    });

    test("refuses a worker that never had the run", async () => {
      const { store } = subject;
      const first = await started(store);
      const { runId, owner } = first.run;
      const runs = [runWrite(next(first, NOW, nodeStarted()), { heldBy: "worker-1" })];
      expect(await refused(store, { tenant: owner.tenant, runs })).toEqual({ type: "lease", runId });
    });

    test("does not keep out a write that needs none, and outlives it", async () => {
      const { store } = subject;
      const first = await started(store);
      await store.claimRuns(claim("worker-1"));
      const second = next(first, NOW, nodeStarted());
      expect(await write(store, second, {})).toEqual({ ok: true });
      expect(await store.claimRuns(claim("worker-2"))).toEqual([]);
      expect(await write(store, next(second, NOW, runCompleted()), { heldBy: "worker-1" })).toEqual({ ok: true });
    });

    test("can be released with the last write, and the run is free at once", async () => {
      const { store } = subject;
      const first = await started(store);
      await store.claimRuns(claim("worker-1"));
      const second = next(first, NOW, nodeStarted());
      expect(await write(store, second, { heldBy: "worker-1", lease: "release" })).toEqual({ ok: true });
      expect(await store.renewLeases("worker-1", [first.run.runId], NOW + LEASE_MS)).toEqual([]);
      expect(await store.claimRuns(claim("worker-2"))).toEqual([second.run]);
    });

    test("can be released without any event", async () => {
      const { store } = subject;
      const { run } = await started(store);
      await store.claimRuns(claim("worker-1"));
      expect(await write(store, { run, events: [] }, { heldBy: "worker-1", lease: "release" })).toEqual({ ok: true });
      expect(await store.claimRuns(claim("worker-2"))).toEqual([run]);
      expect((await store.runRow(run.runId))?.version).toBe(1);
    });

    test("can be taken with the write that creates the run", async () => {
      const { store } = subject;
      const first = startedRun({ tenant: newTenant() });
      expect(await write(store, first, { lease: { owner: "worker-1", untilMs: NOW + LEASE_MS } })).toEqual({
        ok: true,
      });
      expect(await store.claimRuns(claim("worker-2"))).toEqual([]);
      expect(await write(store, next(first, NOW, nodeStarted()), { heldBy: "worker-1" })).toEqual({ ok: true });
      expect(await store.claimRuns(claim("worker-2", NOW + LEASE_MS))).toHaveLength(1);
    });

    test("is prolonged by its holder only", async () => {
      const { store } = subject;
      const built = await Promise.all(upTo(3).map(() => started(store)));
      const runIds = idsOf(built.map(({ run }) => run));
      const [kept = "", lost = "", never = ""] = runIds;
      for (const [owner, runId] of [
        ["worker-1", kept],
        ["worker-2", lost],
      ] as const) {
        const run = built.find((one) => one.run.runId === runId);
        if (run === undefined) throw new Error("no such run");
        const lease = { owner, untilMs: NOW + LEASE_MS };
        expect(await write(store, { run: run.run, events: [] }, { lease })).toEqual({ ok: true });
      }

      expect(await store.renewLeases("worker-1", runIds, NOW + 2 * LEASE_MS)).toEqual([kept]);
      expect(idsOf(await store.claimRuns(claim("worker-3", NOW + LEASE_MS))).sort()).toEqual([lost, never].sort());
      expect(idsOf(await store.claimRuns(claim("worker-3", NOW + 2 * LEASE_MS))).sort()).toEqual([...runIds].sort());
      expect(await store.renewLeases("worker-1", runIds, NOW + 3 * LEASE_MS)).toEqual([]);
      expect(await store.renewLeases("worker-1", [], NOW)).toEqual([]);
    });
  });

  describe("the next wake-up", () => {
    test("is undefined while nothing waits", async () => {
      const { store } = subject;
      expect(await store.nextWakeAtMs(NOW, ENGINE_VERSION)).toBeUndefined();
      await save(store, next(await started(store), NOW, runCompleted()));
      expect(await store.nextWakeAtMs(NOW, ENGINE_VERSION)).toBeUndefined();
    });

    test("is the earliest due time of the runs that nobody holds", async () => {
      const { store } = subject;
      await save(store, next(await started(store), NOW, nodeStarted(), nodeSleeps(9_000)));
      await save(store, next(await started(store), NOW, nodeStarted(), nodeSleeps(7_000)));
      await started(store, NOW - 5);
      expect(await store.nextWakeAtMs(NOW, ENGINE_VERSION)).toBe(NOW - 5);

      await store.claimRuns(claim("worker-1"));
      expect(await store.nextWakeAtMs(NOW, ENGINE_VERSION)).toBe(NOW + 7_000);
      expect(await store.nextWakeAtMs(NOW + LEASE_MS, ENGINE_VERSION)).toBe(NOW - 5);
    });
  });

  describe("the next wake-up, of a host that is older than a run", () => {
    test("is that of the runs it can claim", async () => {
      const { store } = subject;
      const newer = startedRun({ tenant: newTenant(), engineVersion: ENGINE_VERSION + 1 });
      await save(store, newer);
      expect(await store.nextWakeAtMs(NOW, ENGINE_VERSION)).toBeUndefined();
      expect(await store.nextWakeAtMs(NOW, ENGINE_VERSION + 1)).toBe(NOW);
    });
  });

  describe("a dedup scope", () => {
    test("holds one active run and names it to the second", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const active = startedRun({ tenant });
      const { runId } = active.run;
      await accept(store, { tenant, runs: [runWrite(active, { dedupScope: "s" })] });
      const second = () => [runWrite(startedRun({ tenant }), { dedupScope: "s" })];
      expect(await refused(store, { tenant, runs: second() })).toEqual({ type: "active", runId });

      // Still so after the run went on.
      const more = next(active, NOW, nodeStarted());
      await save(store, more);
      expect(await refused(store, { tenant, runs: second() })).toEqual({ type: "active", runId });

      await save(store, next(more, NOW, runCompleted()));
      await accept(store, { tenant, runs: second() });
    });

    test("is one of a tenant and a workflow", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const other = newTenant();
      await accept(store, { tenant, runs: [runWrite(startedRun({ tenant }), { dedupScope: "s" })] });
      await accept(store, { tenant, runs: [runWrite(startedRun({ tenant }), { dedupScope: "t" })] });
      await accept(store, { tenant, runs: [runWrite(startedRun({ tenant }))] });
      await accept(store, {
        tenant,
        runs: [runWrite(startedRun({ tenant, workflowId: "wf-2" }), { dedupScope: "s" })],
      });
      await accept(store, { tenant: other, runs: [runWrite(startedRun({ tenant: other }), { dedupScope: "s" })] });
    });

    test("lets exactly one of many concurrent creations in", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const rivals = upTo(12).map(() => startedRun({ tenant }));
      const results = await Promise.all(
        rivals.map((rival) => store.commit({ tenant, runs: [runWrite(rival, { dedupScope: "s" })] })),
      );
      const winner = rivals[results.findIndex((result) => result.ok)];
      expect(results.filter((result) => result.ok)).toHaveLength(1);
      for (const result of results) {
        if (!result.ok) expect(result.refusal).toEqual({ type: "active", runId: winner?.run.runId });
      }
    });
  });
}
