import { describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import type { CreationLimits, Store } from "../../store/port/store.ts";
import {
  type Built,
  NOW,
  newId,
  newTenant,
  next,
  nodeStarted,
  runCompleted,
  runWrite,
  startedRun,
} from "../builders.ts";
import { deletionOf } from "./deletion.ts";
import { accept, idsOf, refused, type Subject, save, upTo } from "./subject.ts";

const WIDE: CreationLimits = { activeRuns: 1000, descendants: 1000 };

function below(root: Built, more: { readonly parentRunId?: string } = {}): Built {
  const { runId, owner } = root.run;
  const parent = { runId: more.parentRunId ?? runId, nodeId: "a", depth: 1, rootRunId: runId };
  return startedRun({ tenant: owner.tenant, parent });
}

async function create(store: Store, built: readonly Built[], creationLimits: CreationLimits = WIDE) {
  const tenant = built[0]?.run.owner.tenant ?? "";
  return store.commit({ tenant, runs: built.map((one) => runWrite(one)), creationLimits });
}

async function activeOf(store: Store, tenant: string): Promise<number> {
  return (await store.countedRuns()).active[tenant] ?? 0;
}

export function runCounts(subject: Subject): void {
  describe("the count of a tenant's runs", () => {
    test("follows every run from its creation to its end, and no other tenant's", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [first, second] = [startedRun({ tenant }), startedRun({ tenant })];
      await Promise.all([save(store, first), save(store, second), save(store, startedRun({ tenant: newTenant() }))]);
      expect(await activeOf(store, tenant)).toBe(2);
      await save(store, next(first, NOW, nodeStarted()));
      expect(await activeOf(store, tenant)).toBe(2);
      await save(store, next(second, NOW, runCompleted()));
      expect(await activeOf(store, tenant)).toBe(1);
    });

    test("refuses a creation beyond the limit, says what is left, and takes one again when a run has ended", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const limits = { activeRuns: 2, descendants: 9 };
      const first = startedRun({ tenant });
      expect(await create(store, [first], limits)).toEqual({ ok: true });
      const two = [startedRun({ tenant }), startedRun({ tenant })];
      const unit = { tenant, runs: two.map((one) => runWrite(one)), creationLimits: limits };
      expect(await refused(store, unit)).toEqual({ type: "tenant-limit", limit: 2, left: 1 });
      expect(await store.readRun({ tenant }, two[0]?.run.runId ?? "")).toBeUndefined();
      expect(await create(store, two.slice(1), limits)).toEqual({ ok: true });
      expect((await create(store, [startedRun({ tenant })], limits)).ok).toBe(false);
      await save(store, next(first, NOW, runCompleted()));
      expect(await create(store, [startedRun({ tenant })], limits)).toEqual({ ok: true });
      expect(await activeOf(store, tenant)).toBe(2);
    });

    test("lets exactly as many of many concurrent creations in as there is room for", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const rivals = upTo(20).map(() => create(store, [startedRun({ tenant })], { activeRuns: 7, descendants: 1 }));
      expect((await Promise.all(rivals)).filter(({ ok }) => ok)).toHaveLength(7);
      expect(await activeOf(store, tenant)).toBe(7);
    });

    test("does not keep runs from going on and ending when the limit was lowered below it", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const runs = upTo(3).map(() => startedRun({ tenant }));
      await create(store, runs);
      const ending = next(runs[0] as Built, NOW, runCompleted());
      const creationLimits = { activeRuns: 1, descendants: 1 };
      await accept(store, { tenant, runs: [runWrite(ending)], creationLimits });
      expect(await activeOf(store, tenant)).toBe(2);
    });

    test("is not changed by a unit that is refused", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const first = startedRun({ tenant });
      await save(store, first);
      const late = { ...runWrite(next(first, NOW, nodeStarted())), heldBy: "somebody-else" };
      await refused(store, { tenant, runs: [runWrite(startedRun({ tenant })), late] });
      expect(await activeOf(store, tenant)).toBe(1);
    });

    test("outlives the process", async () => {
      const { store, reopen } = subject;
      if (reopen === undefined) return;
      const tenant = newTenant();
      await create(store, [startedRun({ tenant }), startedRun({ tenant })]);
      await store.close();
      const again = await reopen();
      expect(await activeOf(again, tenant)).toBe(2);
      const creationLimits = { activeRuns: 2, descendants: 1 };
      const unit = { tenant, runs: [runWrite(startedRun({ tenant }))], creationLimits };
      expect(await refused(again, unit)).toMatchObject({ type: "tenant-limit", left: 0 });
    });
  });

  describe("the count of a root's descendants", () => {
    test("counts those at every depth, ended or not, and refuses more than the limit", async () => {
      const { store } = subject;
      const root = startedRun({ tenant: newTenant() });
      const { runId: rootRunId, owner } = root.run;
      const limits = { activeRuns: 100, descendants: 3 };
      await create(store, [root], limits);
      const child = below(root);
      expect(await create(store, [child], limits)).toEqual({ ok: true });
      await save(store, next(child, NOW, runCompleted()));
      expect(await create(store, [below(root, { parentRunId: child.run.runId })], limits)).toEqual({ ok: true });
      const two = [runWrite(below(root)), runWrite(below(root))];
      const refusal = await refused(store, { tenant: owner.tenant, runs: two, creationLimits: limits });
      expect(refusal).toEqual({ type: "family-limit", rootRunId, limit: 3, left: 1, cancelled: false });
      expect(await create(store, [below(root)], limits)).toEqual({ ok: true });
      expect((await create(store, [below(root)], limits)).ok).toBe(false);
      expect((await store.countedRuns()).descendants[rootRunId]).toBe(3);
    });

    test("lets exactly as many of many concurrent children in as there is room for", async () => {
      const { store } = subject;
      const root = startedRun({ tenant: newTenant() });
      await save(store, root);
      const rivals = upTo(20).map(() => create(store, [below(root)], { activeRuns: 100, descendants: 6 }));
      expect((await Promise.all(rivals)).filter(({ ok }) => ok)).toHaveLength(6);
    });

    test("is not reset by deleting the root while a descendant is there, and goes with the last of them", async () => {
      const { store } = subject;
      const root = startedRun({ tenant: newTenant() });
      const { tenant } = root.run.owner;
      const child = below(root);
      await create(store, [root, child]);
      const ends = [root, child].map((one) => next(one, NOW, runCompleted()));
      for (const end of ends) await save(store, end);
      const [rootEnd, childEnd] = ends.map(({ run }) => run);
      const audit = [] as const;
      if (rootEnd === undefined || childEnd === undefined) throw new Error("two runs were made");
      await accept(store, { tenant, audit, deletions: [deletionOf(rootEnd)] });
      expect((await store.countedRuns()).descendants[root.run.runId]).toBe(1);
      await accept(store, { tenant, audit, deletions: [deletionOf(childEnd)] });
      expect((await store.countedRuns()).descendants).not.toHaveProperty(root.run.runId);
    });
  });

  describe("a family that is cancelled", () => {
    test("takes no further run, whatever the limits, and keeps its descendants to be found", async () => {
      const { store } = subject;
      const root = startedRun({ tenant: newTenant() });
      const { runId: rootRunId, owner } = root.run;
      const { tenant } = owner;
      const children = upTo(3).map(() => below(root));
      await create(store, [root, ...children]);
      await save(store, next(children[0] as Built, NOW, runCompleted()));
      await accept(store, { tenant, cancelledFamilies: [{ rootRunId, atMs: NOW }] });
      const runs = [runWrite(below(root))];
      expect(await refused(store, { tenant, runs })).toMatchObject({ type: "family-limit", left: 0, cancelled: true });
      const left = idsOf(children.slice(1).map(({ run }) => run)).sort();
      const [first = "", second = ""] = left;
      expect(idsOf(await store.activeDescendants({ tenant }, { rootRunId, after: "", limit: 1 }))).toEqual([first]);
      expect(idsOf(await store.activeDescendants({ tenant }, { rootRunId, after: first, limit: 9 }))).toEqual([second]);
      expect(await store.activeDescendants({ tenant: newTenant() }, { rootRunId, after: "", limit: 9 })).toEqual([]);
    });

    test("is not cancelled by another tenant", async () => {
      const { store } = subject;
      const root = startedRun({ tenant: newTenant() });
      await create(store, [root, below(root)]);
      const cancelledFamilies = [{ rootRunId: root.run.runId, atMs: NOW }];
      await accept(store, { tenant: newTenant(), cancelledFamilies });
      expect(await create(store, [below(root)])).toEqual({ ok: true });
    });
  });

  describe("a claim among tenants", () => {
    const claim = { owner: "w", nowMs: NOW + 99, untilMs: NOW + 10_000, limit: 100, engineVersion: ENGINE_VERSION };

    test("takes the same share of each, longest due first, and leaves out the others", async () => {
      const { store } = subject;
      const [flooded, small, other] = upTo(3).map((n) => `t${n}-${newId("run")}`) as [string, string, string];
      const flood = await Promise.all(
        upTo(6).map(async (n) => {
          const built = startedRun({ tenant: flooded, atMs: NOW + n });
          await save(store, built);
          return built.run;
        }),
      );
      const [one, left] = [startedRun({ tenant: small, atMs: NOW + 50 }), startedRun({ tenant: other })];
      await save(store, one);
      await save(store, left);
      const got = await store.claimRuns({ ...claim, among: { tenants: [flooded, small], share: 2 } });
      expect(got).toEqual([flood[0], flood[1], one.run]);
      expect(await store.dueTenants({ ...claim, after: "", limit: 9 })).toEqual([flooded, other]);
      expect(await store.dueTenants({ ...claim, after: flooded, limit: 9 })).toEqual([other]);
      expect(await store.dueTenants({ ...claim, after: "", limit: 1 })).toEqual([flooded]);
      expect(await store.dueTenants({ ...claim, nowMs: NOW - 1, after: "", limit: 9 })).toEqual([]);
    });
  });
}
