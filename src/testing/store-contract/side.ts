import { describe, expect, test, vi } from "vitest";
import type { Change, Store } from "../../store/store.ts";
import {
  artifactWrite,
  auditDraft,
  NOW,
  newKey,
  newTenant,
  next,
  nodeStarted,
  runWrite,
  startedRun,
} from "../builders.ts";
import { accept, refused, type Subject, save, upTo } from "./subject.ts";

function watch(store: Store): { changes: Change[]; stop: () => void } {
  const changes: Change[] = [];
  return { changes, stop: store.onChange((change) => changes.push(change)) };
}

export function side(subject: Subject): void {
  describe("an artifact", () => {
    test("comes back byte for byte", async () => {
      const { store } = subject;
      const { run, events } = startedRun({ tenant: newTenant() });
      const visible = run.owner;
      const { atMs: _, runId, ...artifact } = artifactWrite(run.runId);
      const empty = artifactWrite(runId, { artifactId: "empty", body: new Uint8Array() });
      const artifacts = [artifactWrite(runId), empty];
      await accept(store, { tenant: visible.tenant, runs: [runWrite({ run, events })], artifacts });
      const found = await store.readArtifact(visible, runId, "report");
      expect({ ...found, body: Uint8Array.from(found?.body ?? []) }).toEqual(artifact);
      expect((await store.readArtifact(visible, runId, "empty"))?.body).toHaveLength(0);
      expect(await store.readArtifact(visible, runId, "none")).toBeUndefined();
    });
  });

  describe("a secret of the host", () => {
    test("is made by the first caller and the same for all", async () => {
      const { store } = subject;
      const made = await Promise.all(upTo(6).map((n) => store.hostSecret("cursor", () => `secret ${n}`)));
      expect(new Set(made).size).toBe(1);
      expect(made[0]).toMatch(/^secret \d$/);
      expect(await store.hostSecret("cursor", () => "late")).toBe(made[0]);
      expect(await store.hostSecret("audit", () => "another")).toBe("another");
    });
  });

  describe("a listener", () => {
    test("hears of the runs with new events, and that there is work", async () => {
      const { store } = subject;
      const { changes } = watch(store);
      const started = startedRun({ tenant: newTenant() });
      await save(store, started);
      await vi.waitFor(() => expect(changes).toEqual([{ runIds: [started.run.runId], work: true, keys: false }]));
    });

    test("hears of every run of many concurrent commits", async () => {
      const { store } = subject;
      const { changes } = watch(store);
      const built = upTo(25).map(() => startedRun({ tenant: newTenant() }));
      await Promise.all(built.map((one) => save(store, one)));
      const heard = () => [...new Set(changes.flatMap(({ runIds }) => runIds))].sort();
      await vi.waitFor(() => expect(heard()).toEqual(built.map(({ run }) => run.runId).sort()));
    });

    test("hears when keys or roles change", async () => {
      const { store } = subject;
      const { changes } = watch(store);
      const tenant = newTenant();
      const key = newKey(tenant);
      const heard = (count: number) =>
        vi.waitFor(() => expect(changes).toEqual(upTo(count).map(() => ({ runIds: [], work: false, keys: true }))));
      await accept(store, { tenant, keys: [{ type: "put", key }] });
      await heard(1);
      await accept(store, { tenant, roles: [{ tenant, principal: "pat", roles: ["owner"] }] });
      await heard(2);
      await accept(store, { tenant, keys: [{ type: "revoke", keyId: key.keyId, atMs: NOW }] });
      await heard(3);
    });

    test("hears that there is work again when a lease is released, without a run having new events", async () => {
      const { store } = subject;
      const { run } = startedRun({ tenant: newTenant() });
      await save(store, startedRun({ tenant: run.owner.tenant, runId: run.runId }));
      await store.claimRuns({ owner: "w", nowMs: NOW, untilMs: NOW + 1, limit: 1, engineVersion: 1 });
      const { changes } = watch(store);
      const runs = [runWrite({ run, events: [] }, { heldBy: "w", lease: "release" })];
      await accept(store, { tenant: run.owner.tenant, runs });
      await vi.waitFor(() => expect(changes).toEqual([{ runIds: [], work: true, keys: false }]));
    });

    test("hears of no work when the run stays in the hands of its worker", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      const { runId, owner } = started.run;
      await save(store, started);
      await store.claimRuns({ owner: "w", nowMs: NOW, untilMs: NOW + 1, limit: 1, engineVersion: 1 });
      const { changes } = watch(store);
      const runs = [runWrite(next(started, NOW, nodeStarted()), { heldBy: "w" })];
      await accept(store, { tenant: owner.tenant, runs });
      await vi.waitFor(() => expect(changes).toEqual([{ runIds: [runId], work: false, keys: false }]));
    });

    test("hears nothing of what was refused or concerns nobody, nor after it left", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { changes, stop } = watch(store);
      const more = next(startedRun({ tenant }), NOW, nodeStarted());
      await refused(store, { tenant, runs: [runWrite(more)] });
      await accept(store, { tenant, audit: [auditDraft()] });
      const started = startedRun({ tenant });
      await save(store, started);
      await vi.waitFor(() => expect(changes.map(({ runIds }) => runIds)).toEqual([[started.run.runId]]));

      stop();
      const late = watch(store);
      await save(store, startedRun({ tenant }));
      await vi.waitFor(() => expect(late.changes).toHaveLength(1));
      expect(changes).toHaveLength(1);
    });
  });
}
