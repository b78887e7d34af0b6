import { describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import { type Change, NO_CHANGE, type Store } from "../../store/port/store.ts";
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
import { eventually } from "../eventually.ts";
import { newDelivery, newWebhook } from "../gate-builders.ts";
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
      await eventually(() => expect(changes).toEqual([{ ...NO_CHANGE, runIds: [started.run.runId], work: true }]));
    });

    test("hears of every run of many concurrent commits", async () => {
      const { store } = subject;
      const { changes } = watch(store);
      const built = upTo(25).map(() => startedRun({ tenant: newTenant() }));
      await Promise.all(built.map((one) => save(store, one)));
      const heard = () => [...new Set(changes.flatMap(({ runIds }) => runIds))].sort();
      await eventually(() => expect(heard()).toEqual(built.map(({ run }) => run.runId).sort()));
    });

    test("hears when keys or roles change", async () => {
      const { store } = subject;
      const { changes } = watch(store);
      const tenant = newTenant();
      const key = newKey(tenant);
      const heard = (count: number) =>
        eventually(() => expect(changes).toEqual(upTo(count).map(() => ({ ...NO_CHANGE, keys: true }))));
      await accept(store, { tenant, keys: [{ type: "put", key }] });
      await heard(1);
      await accept(store, { tenant, roles: [{ tenant, principal: "pat", roles: ["owner"] }] });
      await heard(2);
      await accept(store, { tenant, keys: [{ type: "revoke", keyId: key.keyId, atMs: NOW }] });
      await heard(3);
      const role = { role: "auditor", scopes: ["audit:read"] };
      await accept(store, { tenant, roleDefinitions: [{ type: "put", ...role }] });
      await heard(4);
      await accept(store, { tenant, roleDefinitions: [{ type: "delete", role: "auditor" }] });
      await heard(5);
      await accept(store, { tenant, roles: [{ tenant, principal: "pat", groups: ["finance"] }] });
      await heard(6);
    });

    test("hears when webhooks change and when there is something to deliver", async () => {
      const { store } = subject;
      const { changes } = watch(store);
      const webhook = newWebhook(newTenant());
      const { tenant, webhookId } = webhook;
      const expected: Change[] = [];
      const heard = (topic: Partial<Change>) => {
        expected.push({ ...NO_CHANGE, ...topic });
        return eventually(() => expect(changes).toEqual(expected));
      };
      await accept(store, { tenant, webhooks: [{ type: "put", webhook }] });
      await heard({ webhooks: true });
      await accept(store, { tenant, webhooks: [{ type: "enable", webhookId }] });
      await heard({ webhooks: true });
      const { deliveryId, ...more } = newDelivery({ webhookId });
      await accept(store, { tenant, deliveries: [{ deliveryId, ...more }] });
      await heard({ deliveries: true });

      await store.claimDeliveries({ owner: "h", nowMs: NOW, untilMs: NOW + 1, limit: 1 });
      const attempt = { deliveryId, owner: "h", state: "dead" as const, attempts: 1, atMs: NOW };
      await store.finishAttempt({ ...attempt, webhook: { webhookId, failures: 1, disabledAtMs: NOW } });
      await heard({ webhooks: true });
      await store.redeliver({ tenant }, { deliveryId }, NOW);
      await heard({ deliveries: true });
      await store.redeliver({ tenant }, { deliveryId }, NOW);
      await accept(store, { tenant, webhooks: [{ type: "delete", webhookId }] });
      await heard({ webhooks: true });
    });

    test("hears that there is work again when a lease is released, without a run having new events", async () => {
      const { store } = subject;
      const { run } = startedRun({ tenant: newTenant() });
      await save(store, startedRun({ tenant: run.owner.tenant, runId: run.runId }));
      await store.claimRuns({ owner: "w", nowMs: NOW, untilMs: NOW + 1, limit: 1, engineVersion: ENGINE_VERSION });
      const { changes } = watch(store);
      const runs = [runWrite({ run, events: [] }, { heldBy: "w", lease: "release" })];
      await accept(store, { tenant: run.owner.tenant, runs });
      await eventually(() => expect(changes).toEqual([{ ...NO_CHANGE, work: true }]));
    });

    test("hears of no work when the run stays in the hands of its worker", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      const { runId, owner } = started.run;
      await save(store, started);
      await store.claimRuns({ owner: "w", nowMs: NOW, untilMs: NOW + 1, limit: 1, engineVersion: ENGINE_VERSION });
      const { changes } = watch(store);
      const runs = [runWrite(next(started, NOW, nodeStarted()), { heldBy: "w" })];
      await accept(store, { tenant: owner.tenant, runs });
      await eventually(() => expect(changes).toEqual([{ ...NO_CHANGE, runIds: [runId] }]));
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
      await eventually(() => expect(changes.map(({ runIds }) => runIds)).toEqual([[started.run.runId]]));

      stop();
      const late = watch(store);
      await save(store, startedRun({ tenant }));
      await eventually(() => expect(late.changes).toHaveLength(1));
      expect(changes).toHaveLength(1);
    });
  });
}
