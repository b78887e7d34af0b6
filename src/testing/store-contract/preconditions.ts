import { describe, expect, test } from "vitest";
import type { Store, Unit } from "../../store/port/store.ts";
import { annotate, annotationOf, judging, recording, retracting } from "../annotation-builders.ts";
import { auditDraft, newTenant } from "../builders.ts";
import { deletionOf, endedRun } from "./deletion.ts";
import { accept, refused, type Subject } from "./subject.ts";

export function preconditions(subject: Subject): void {
  describe("a unit that rests on a run", () => {
    const resting = (tenant: string, runId: string, version: number, judgedUpTo?: number): Unit => ({
      tenant,
      audit: [auditDraft("decided")],
      preconditions: [{ runId, version, ...(judgedUpTo === undefined ? {} : { judgedUpTo }) }],
    });
    const entries = async (store: Store, tenant: string) => (await store.readAudit(tenant, 1, 100, 100)).length;
    const begun = async () => {
      const tenant = newTenant();
      const run = await endedRun(subject.store, { tenant });
      await accept(subject.store, { tenant, audit: [auditDraft()] });
      return { store: subject.store, tenant, run, runId: run.runId, version: run.version };
    };

    test("happens while the run is as it was read, and is refused at any other version", async () => {
      const { store, tenant, runId, version } = await begun();
      await accept(store, resting(tenant, runId, version));
      const before = await entries(store, tenant);
      const refusal = { type: "version", runId, version };
      expect(await refused(store, resting(tenant, runId, version + 1))).toEqual(refusal);
      expect(await entries(store, tenant)).toBe(before);
    });

    test("is refused when the run is gone, or is none of the tenant's", async () => {
      const { store, tenant, run, runId, version } = await begun();
      const elsewhere = resting(newTenant(), runId, version);
      expect(await refused(store, elsewhere)).toEqual({ type: "version", runId, version: 0 });
      await accept(store, { tenant, deletions: [deletionOf(run)], audit: [auditDraft("run.deleted")] });
      expect(await refused(store, resting(tenant, runId, version))).toEqual({ type: "version", runId, version: 0 });
    });

    test("is refused when the run was judged since, by whatever it was, and where that matters", async () => {
      const { store, tenant, run, runId, version } = await begun();
      const seen = async () => (await store.annotationHead(tenant)).seq;
      const before = await seen();
      const judgment = annotationOf(run);
      await annotate(store, judgment);
      expect(await refused(store, resting(tenant, runId, version, before))).toEqual({ type: "precondition", runId });
      await accept(store, resting(tenant, runId, version));
      const after = await seen();
      await accept(store, resting(tenant, runId, version, after));
      await accept(store, judging(tenant, retracting(judgment)));
      expect(await refused(store, resting(tenant, runId, version, after))).toEqual({ type: "precondition", runId });
    });

    test("does not mind what is said of other runs", async () => {
      const { store, tenant, runId, version } = await begun();
      const other = await endedRun(store, { tenant });
      await annotate(store, annotationOf(other));
      await accept(store, resting(tenant, runId, version, 0));
    });

    test("and a judgment of it that are committed together come one after the other", async () => {
      const { store, tenant, run, runId, version } = await begun();
      const { seq } = await store.annotationHead(tenant);
      const units = Array.from({ length: 8 }, (_, i) =>
        i % 2 === 0 ? judging(tenant, recording(annotationOf(run))) : resting(tenant, runId, version, seq),
      );
      const committed = await Promise.all(units.map((unit) => store.commit(unit)));
      const decided = await store.readAudit(tenant, 1, 100, 100);
      const first = decided.findIndex(({ action }) => action === "annotation.record");
      expect(committed.filter((_, i) => i % 2 === 0).every(({ ok }) => ok)).toBe(true);
      // Nothing that rests on there being no judgment stands after one.
      expect(decided.slice(first).filter(({ action }) => action === "decided")).toEqual([]);
    });

    test("has an audit entry, by which it meets them", async () => {
      const { store, tenant, runId, version } = await begun();
      const { audit: _, ...bare } = resting(tenant, runId, version, 0);
      await expect((async () => store.commit(bare))()).rejects.toThrow("audit entries");
    });
  });
}
