import { describe, expect, test } from "vitest";
import type { DeliveryQuery, DeliveryRecord, DeliveryWrite, WebhookRecord } from "../../store/port/gates.ts";
import type { Store } from "../../store/port/store.ts";
import { NOW, newId, newTenant, next, nodeStarted, runWrite, startedRun } from "../builders.ts";
import { newDelivery, newWebhook } from "../gate-builders.ts";
import { accept, refused, type Subject, upTo } from "./subject.ts";

async function registered(store: Store, webhook: WebhookRecord): Promise<WebhookRecord> {
  await accept(store, { tenant: webhook.tenant, webhooks: [{ type: "put", webhook }] });
  return webhook;
}

function fresh(tenant: string, delivery: DeliveryWrite): DeliveryRecord {
  return { ...delivery, tenant, state: "pending", attempts: 0, nextAtMs: delivery.atMs };
}

export function webhooks(subject: Subject): void {
  describe("a webhook", () => {
    test("is found with everything that was said about it", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const plain = await registered(store, newWebhook(tenant));
      const times = { failingSinceMs: NOW + 1, circuitUntilMs: NOW + 2, disabledAtMs: NOW + 3 };
      const full = await registered(store, newWebhook(tenant, { workspace: "w1", failures: 4, ...times }));
      expect(await store.readWebhook({ tenant }, plain.webhookId)).toEqual(plain);
      expect(await store.readWebhook({ tenant }, full.webhookId)).toEqual(full);
      expect(await store.readWebhook({ tenant }, newId("hook"))).toBeUndefined();
    });

    test("put again is replaced, but never by another tenant", async () => {
      const { store } = subject;
      const webhook = await registered(store, newWebhook(newTenant(), { failures: 3, circuitUntilMs: NOW }));
      const { circuitUntilMs: _, ...again } = { ...webhook, url: "https://example.org", failures: 0 };
      await registered(store, again);
      expect(await store.listWebhooks(webhook)).toEqual([again]);
      const theft = { ...again, tenant: newTenant(), url: "https://thief.example" };
      await registered(store, theft);
      expect(await store.listWebhooks(webhook)).toEqual([again]);
      expect(await store.listWebhooks(theft)).toEqual([]);
    });

    test("is seen and touched by its own tenant and workspace only", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      const wide = await registered(store, newWebhook(tenant, { disabledAtMs: NOW }));
      const inW1 = await registered(store, newWebhook(tenant, { workspace: "w1" }));
      const foreign = await registered(store, newWebhook(other, { workspace: "w1" }));
      const seenBy = async (visible: { tenant: string; workspace?: string }) => {
        const read = await Promise.all([wide, inW1, foreign].map((one) => store.readWebhook(visible, one.webhookId)));
        const seen = read.filter((one) => one !== undefined).map(({ webhookId }) => webhookId);
        expect((await store.listWebhooks(visible)).map(({ webhookId }) => webhookId).sort()).toEqual([...seen].sort());
        return seen;
      };
      expect(await seenBy({ tenant })).toEqual([wide.webhookId, inW1.webhookId]);
      expect(await seenBy({ tenant, workspace: "w1" })).toEqual([inW1.webhookId]);
      expect(await seenBy({ tenant, workspace: "w2" })).toEqual([]);
      expect(await seenBy({ tenant: other })).toEqual([foreign.webhookId]);

      const { webhookId } = wide;
      for (const type of ["enable", "delete"] as const) {
        await accept(store, { tenant: other, webhooks: [{ type, webhookId }] });
        expect(await store.readWebhook({ tenant }, webhookId)).toEqual(wide);
      }
    });

    test("that is enabled again has no failures behind it", async () => {
      const { store } = subject;
      const times = { failingSinceMs: NOW + 1, circuitUntilMs: NOW + 2, disabledAtMs: NOW + 3 };
      const { tenant, webhookId } = await registered(store, newWebhook(newTenant(), { failures: 9, ...times }));
      await accept(store, { tenant, webhooks: [{ type: "enable", webhookId }] });
      const found = await store.readWebhook({ tenant }, webhookId);
      expect(found).toMatchObject({ failures: 0 });
      expect(Object.keys(found ?? {})).not.toContain("disabledAtMs");
      expect([found?.failingSinceMs, found?.circuitUntilMs]).toEqual([undefined, undefined]);
    });

    test("takes along what was not delivered when it is deleted", async () => {
      const { store } = subject;
      const { tenant, webhookId } = await registered(store, newWebhook(newTenant()));
      const other = await registered(store, newWebhook(tenant));
      const deliveries = upTo(3).map((sequence) => newDelivery({ webhookId, sequence, atMs: NOW + sequence }));
      const kept = newDelivery({ webhookId: other.webhookId, atMs: NOW + 9 });
      await accept(store, { tenant, deliveries: [...deliveries, kept] });
      const [first, second] = await store.claimDeliveries({ owner: "h", nowMs: NOW + 5, untilMs: NOW + 6, limit: 2 });
      if (!first || !second) throw new Error("two deliveries are due");
      for (const [{ deliveryId }, state] of [[first, "delivered"] as const, [second, "dead"] as const]) {
        await store.finishAttempt({ deliveryId, owner: "h", state, attempts: 1, atMs: NOW + 6 });
      }
      await accept(store, { tenant, webhooks: [{ type: "delete", webhookId }] });
      expect(await store.readWebhook({ tenant }, webhookId)).toBeUndefined();
      const left = (await store.listDeliveries({ tenant }, { limit: 10 })).map(({ deliveryId }) => deliveryId);
      expect(left).toEqual([kept.deliveryId, first.deliveryId]);
    });
  });

  describe("a delivery", () => {
    test("is written with the events it is about, or not at all", async () => {
      const { store } = subject;
      const { tenant, webhookId } = await registered(store, newWebhook(newTenant()));
      const started = startedRun({ tenant, workspace: "w1" });
      const { runId } = started.run;
      const delivery = newDelivery({ webhookId, runId, workspace: "w1" });
      const stale = next(started, NOW, nodeStarted());
      const late = newDelivery({ webhookId, runId, sequence: 1 });
      await refused(store, { tenant, runs: [runWrite(stale)], deliveries: [late] });
      expect(await store.listDeliveries({ tenant }, { limit: 10 })).toEqual([]);
      await accept(store, { tenant, runs: [runWrite(started)], deliveries: [delivery] });
      expect(await store.listDeliveries({ tenant }, { limit: 10 })).toEqual([fresh(tenant, delivery)]);
    });

    test("of a callback says where it goes and which interrupt it is about", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const callback = newDelivery({ url: "https://example.com/back", interruptId: newId("int"), sequence: 3 });
      await accept(store, { tenant, deliveries: [callback] });
      expect(await store.listDeliveries({ tenant }, { limit: 10 })).toEqual([fresh(tenant, callback)]);
    });

    test("written a second time for the same event is passed over", async () => {
      const { store } = subject;
      const { tenant, webhookId } = await registered(store, newWebhook(newTenant()));
      const about = { runId: newId("run"), sequence: 4 };
      const first = newDelivery({ webhookId, ...about });
      const callback = newDelivery({ url: "https://example.com/back", ...about, atMs: NOW + 1 });
      const again = [newDelivery({ webhookId, ...about }), newDelivery({ ...about, url: "https://example.com/other" })];
      await accept(store, { tenant, deliveries: [first, callback, ...again] });
      await accept(store, { tenant, deliveries: again });
      const found = await store.listDeliveries({ tenant }, { limit: 10 });
      expect(found).toEqual([fresh(tenant, callback), fresh(tenant, first)]);
    });

    test("for a webhook that is gone or another tenant's is not written", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const foreign = await registered(store, newWebhook(newTenant()));
      const deliveries = [newDelivery({ webhookId: foreign.webhookId }), newDelivery({ webhookId: newId("hook") })];
      await accept(store, { tenant, deliveries });
      for (const one of [tenant, foreign.tenant]) {
        expect(await store.listDeliveries({ tenant: one }, { limit: 10 })).toEqual([]);
      }
    });

    test("can be written with the webhook itself", async () => {
      const { store } = subject;
      const webhook = newWebhook(newTenant());
      const { tenant, webhookId } = webhook;
      const deliveries = [newDelivery({ webhookId })];
      await accept(store, { tenant, webhooks: [{ type: "put", webhook }], deliveries });
      expect(await store.listDeliveries({ tenant }, { limit: 10 })).toHaveLength(1);
    });
  });

  describe("deliveries", () => {
    test("are listed newest first, a page at a time, by webhook, run and state", async () => {
      const { store } = subject;
      const { tenant, webhookId } = await registered(store, newWebhook(newTenant()));
      const written = upTo(5).map((n) => newDelivery({ webhookId, sequence: n, atMs: NOW + n }));
      const callback = newDelivery({ atMs: NOW + 9, url: "https://example.com/back" });
      await accept(store, { tenant, deliveries: [...written, callback] });
      const newest = [callback, ...written.toReversed()].map(({ deliveryId }) => deliveryId);
      const list = async (query: Partial<DeliveryQuery>) =>
        (await store.listDeliveries({ tenant }, { limit: 10, ...query })).map(({ deliveryId }) => deliveryId);
      expect(await list({})).toEqual(newest);
      expect(await list({ limit: 2 })).toEqual(newest.slice(0, 2));
      expect(await list({ limit: 2, before: newest[1] ?? "" })).toEqual(newest.slice(2, 4));
      expect(await list({ webhookId })).toEqual(newest.slice(1));
      expect(await list({ runId: callback.runId })).toEqual([callback.deliveryId]);

      await store.claimDeliveries({ owner: "h", nowMs: NOW, untilMs: NOW + 1, limit: 1 });
      const done = { owner: "h", deliveryId: newest[5] ?? "", state: "delivered" as const, attempts: 1, atMs: NOW };
      expect(await store.finishAttempt(done)).toBe(true);
      expect(await list({ state: "delivered" })).toEqual([newest[5]]);
      expect(await list({ state: "pending", webhookId })).toEqual(newest.slice(1, 5));
    });

    test("are seen by their tenant, and those of a workspace by whoever sees no more", async () => {
      const { store } = subject;
      const { tenant, webhookId } = await registered(store, newWebhook(newTenant()));
      const inW1 = newDelivery({ webhookId, workspace: "w1" });
      const inNone = newDelivery({ webhookId, sequence: 1, atMs: NOW - 1 });
      await accept(store, { tenant, deliveries: [inW1, inNone] });
      const seenBy = async (visible: { tenant: string; workspace?: string }) =>
        (await store.listDeliveries(visible, { limit: 10 })).map(({ deliveryId }) => deliveryId);
      expect(await seenBy({ tenant })).toEqual([inW1.deliveryId, inNone.deliveryId]);
      expect(await seenBy({ tenant, workspace: "w1" })).toEqual([inW1.deliveryId]);
      expect(await seenBy({ tenant, workspace: "w2" })).toEqual([]);
      expect(await seenBy({ tenant: newTenant() })).toEqual([]);
    });
  });
}
