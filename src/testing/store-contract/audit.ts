import { describe, expect, test } from "vitest";
import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditEntry } from "../../protocol/audit/audit.ts";
import type { Store, StoredCheckpoint } from "../../store/port/store.ts";
import { auditDraft, idempotencyOutcome, NOW, newTenant, runWrite, startedRun } from "../builders.ts";
import { accept, type Subject, upTo } from "./subject.ts";

/** The whole chain of a tenant, after checking that it is one. */
export async function verifiedChain(store: Store, tenant: string): Promise<AuditEntry[]> {
  const entries = await store.readAudit(tenant, 1, Number.MAX_SAFE_INTEGER, 100_000);
  expect(entries.map((entry) => entry.atSequence)).toEqual(entries.map((_, index) => index + 1));
  const hashes = entries.map(entryHash);
  expect(entries.map((entry) => entry.prevHash)).toEqual([null, ...hashes].slice(0, entries.length));
  const hash = hashes.at(-1);
  expect(await store.auditHead(tenant)).toEqual(hash === undefined ? undefined : { seq: entries.length, hash });
  return entries;
}

function checkpoint(prevSequence: number, atSequence: number, atMs = NOW): StoredCheckpoint {
  const checkpoint = `cp-${prevSequence}-${atSequence}`;
  return { checkpoint, atSequence, prevSequence, atMs, merkleRoot: "root", signature: "signed" };
}

async function record(store: Store, tenant: string, count: number): Promise<void> {
  for (const n of upTo(count)) await accept(store, { tenant, audit: [auditDraft(`deed.${n}`)] });
}

export function audit(subject: Subject): void {
  describe("the audit chain of a tenant", () => {
    test("is empty at first", async () => {
      const tenant = newTenant();
      expect(await verifiedChain(subject.store, tenant)).toEqual([]);
    });

    test("holds what was recorded, in order, each entry with the hash of the one before", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const details = { runId: "run-1", n: 1.5, flag: true, none: null, nested: { list: ["ä", "\u0000"] } };
      await accept(store, { tenant, audit: [auditDraft("run.create", details), auditDraft("run.start")] });
      await accept(store, { tenant, audit: [auditDraft("run.cancel")] });
      const chain = await verifiedChain(store, tenant);
      expect(chain.map((entry) => entry.action)).toEqual(["run.create", "run.start", "run.cancel"]);
      expect(chain[0]).toEqual({ ...auditDraft("run.create", details), atSequence: 1, prevHash: null });
    });

    test("is read in parts", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await record(store, tenant, 6);
      const sequences = async (from: number, to: number, limit: number) =>
        (await store.readAudit(tenant, from, to, limit)).map((entry) => entry.atSequence);
      expect(await sequences(2, 4, 10)).toEqual([2, 3, 4]);
      expect(await sequences(2, 6, 2)).toEqual([2, 3]);
      expect(await sequences(7, 9, 10)).toEqual([]);
    });

    test("is read some at a time where entries are large", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const text = "a".repeat(700_000);
      for (let n = 0; n < 4; n++) await accept(store, { tenant, audit: [auditDraft("large", { text })] });
      const sequences = async (from: number) =>
        (await store.readAudit(tenant, from, Number.MAX_SAFE_INTEGER, 1000)).map((entry) => entry.atSequence);
      expect(await sequences(1)).toEqual([1, 2]);
      expect(await sequences(3)).toEqual([3, 4]);
      expect(await sequences(5)).toEqual([]);
    });

    test("neither forks nor has a gap under concurrent writers, refused units among them", async () => {
      const { store } = subject;
      const tenants = [newTenant(), newTenant(), newTenant()];
      await Promise.all(
        upTo(90).map((n) => {
          const tenant = tenants[n % 3] ?? "";
          const key = n % 5 === 0 ? "taken" : `k-${n}`;
          const idempotency = idempotencyOutcome(tenant, { key });
          return store.commit({ tenant, idempotency, audit: [auditDraft(`deed.${n}`), auditDraft(`deed.${n}`)] });
        }),
      );
      // Of the six units under the taken key, one per tenant came through.
      for (const tenant of tenants) expect(await verifiedChain(store, tenant)).toHaveLength(2 * (24 + 1));
    });

    test("is its own: other tenants see nothing of it", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      await record(store, tenant, 2);
      expect(await verifiedChain(store, other)).toEqual([]);
      await record(store, other, 1);
      expect(await verifiedChain(store, other)).toHaveLength(1);
      expect(await verifiedChain(store, tenant)).toHaveLength(2);
    });

    test("goes on with the runs it is about", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await Promise.all(
        upTo(20).map(() => accept(store, { tenant, runs: [runWrite(startedRun({ tenant }))], audit: [auditDraft()] })),
      );
      expect(await verifiedChain(store, tenant)).toHaveLength(20);
      expect(await store.listRuns({ tenant }, { limit: 100 })).toHaveLength(20);
    });
  });

  describe("a checkpoint", () => {
    test("follows the one before, and only one process can make it", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await record(store, tenant, 5);
      const first = checkpoint(0, 3);
      expect(await store.putCheckpoint(tenant, first)).toBe(true);
      expect(await store.putCheckpoint(tenant, checkpoint(0, 5))).toBe(false);
      const rivals = upTo(8).map((n) => store.putCheckpoint(tenant, checkpoint(3, 5, NOW + n)));
      expect((await Promise.all(rivals)).filter(Boolean)).toHaveLength(1);

      const stored = await store.readCheckpoints(tenant, 0, 100);
      expect(stored[0]).toEqual(first);
      expect(stored.map(({ prevSequence, atSequence }) => [prevSequence, atSequence])).toEqual([
        [0, 3],
        [3, 5],
      ]);
    });

    test("is read by the sequence it was made at, by its own tenant", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      await record(store, tenant, 6);
      for (const [from, to] of [
        [0, 2],
        [2, 4],
        [4, 6],
      ] as const)
        await store.putCheckpoint(tenant, checkpoint(from, to));
      const ends = async (who: string, from: number, to: number) =>
        (await store.readCheckpoints(who, from, to)).map(({ atSequence }) => atSequence);
      expect(await ends(tenant, 2, 4)).toEqual([2, 4]);
      expect(await ends(tenant, 5, 9)).toEqual([6]);
      expect((await store.readCheckpoints(tenant, 1, 9, 2)).map(({ atSequence }) => atSequence)).toEqual([2, 4]);
      expect(await ends(other, 0, 9)).toEqual([]);
      expect(await store.putCheckpoint(other, checkpoint(0, 1))).toBe(true);
    });
  });

  describe("tenants with checkpoints after a cursor", () => {
    test("are those whose last checkpoint ends after it, or that have no cursor of the name", async () => {
      const { store } = subject;
      const [fresh, behind, done, unsigned] = [newTenant(), newTenant(), newTenant(), newTenant()];
      for (const tenant of [fresh, behind, done, unsigned]) await record(store, tenant, 3);
      for (const tenant of [fresh, behind, done]) await store.putCheckpoint(tenant, checkpoint(0, 2));
      await store.putCheckpoint(behind, checkpoint(2, 3));
      await store.putCursor("roots", behind, { seq: 2, n: 0 });
      await store.putCursor("roots", done, { seq: 2, n: 0 });
      expect(await store.tenantsWithCheckpointsAfter("roots")).toEqual([fresh, behind].toSorted());
      expect(await store.tenantsWithCheckpointsAfter("other")).toEqual([fresh, behind, done].toSorted());
    });
  });

  describe("the audit backlog", () => {
    test("names the tenants with entries after their last checkpoint", async () => {
      const { store } = subject;
      const [fresh, behind, done] = [newTenant(), newTenant(), newTenant()];
      expect(await store.auditBacklog()).toEqual([]);
      for (const tenant of [fresh, behind, done]) await record(store, tenant, 3);
      await store.putCheckpoint(behind, checkpoint(0, 1, NOW + 1));
      await store.putCheckpoint(behind, checkpoint(1, 2, NOW + 2));
      await store.putCheckpoint(done, checkpoint(0, 3, NOW + 3));

      const backlog = [...(await store.auditBacklog())].sort((a, b) => a.checkpointSeq - b.checkpointSeq);
      expect(backlog).toEqual([
        { tenant: fresh, headSeq: 3, checkpointSeq: 0, checkpointAtMs: 0 },
        { tenant: behind, headSeq: 3, checkpointSeq: 2, checkpointAtMs: NOW + 2 },
      ]);
    });
  });
}
