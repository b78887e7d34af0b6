import { describe, expect, test } from "vitest";
import type {
  AttemptOutcome,
  ClaimedDelivery,
  DeliveryClaim,
  DeliveryWrite,
  WebhookRecord,
} from "../../store/port/gates.ts";
import type { Store } from "../../store/port/store.ts";
import { HOUR, NOW, newTenant } from "../builders.ts";
import { newDelivery, newWebhook } from "../gate-builders.ts";
import { accept, type Subject, upTo } from "./subject.ts";

const LEASE_MS = 1000;
const DAY = 24 * HOUR;

function claim(owner: string, nowMs = NOW, limit = 100): DeliveryClaim {
  return { owner, nowMs, untilMs: nowMs + LEASE_MS, limit };
}

function outcome(deliveryId: string, more: Partial<AttemptOutcome> = {}): AttemptOutcome {
  return { deliveryId, owner: "host-1", state: "delivered", attempts: 1, lastStatus: 200, atMs: NOW + 5, ...more };
}

/** Deliveries of one webhook, due one a millisecond. */
async function outbox(store: Store, count: number, more: Partial<WebhookRecord> = {}) {
  const webhook = newWebhook(newTenant(), more);
  const { tenant, webhookId } = webhook;
  const deliveries = upTo(count).map((n) => newDelivery({ webhookId, sequence: n, atMs: NOW + n }));
  await accept(store, { tenant, webhooks: [{ type: "put", webhook }], deliveries });
  return { webhook, tenant, webhookId, deliveries, ids: deliveries.map(({ deliveryId }) => deliveryId) };
}

function idsOf(found: readonly ClaimedDelivery[] | readonly DeliveryWrite[]): string[] {
  return found.map(({ deliveryId }) => deliveryId);
}

export function outboxes(subject: Subject): void {
  describe("a claim of deliveries", () => {
    test("gets those that are due, oldest first, with their webhook as it is now", async () => {
      const { store } = subject;
      const { tenant, webhook, ids, deliveries } = await outbox(store, 4);
      const changed = { ...webhook, url: "https://example.org/new", failures: 2 };
      await accept(store, { tenant, webhooks: [{ type: "put", webhook: changed }] });
      const [first, ...rest] = await store.claimDeliveries(claim("host-1", NOW + 2));
      const { atMs: nextAtMs } = deliveries[0] as DeliveryWrite;
      expect(first).toEqual({ ...deliveries[0], tenant, state: "pending", attempts: 0, nextAtMs, webhook: changed });
      expect(idsOf(rest)).toEqual(ids.slice(1, 3));
    });

    test("gets callbacks, which have no webhook", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const callback = newDelivery({ url: "https://example.com/back" });
      await accept(store, { tenant, deliveries: [callback] });
      const claimed = await store.claimDeliveries(claim("host-1"));
      expect(claimed).toEqual([{ ...callback, tenant, state: "pending", attempts: 0, nextAtMs: NOW }]);
    });

    test("gets as many as it asks for, and none that somebody holds", async () => {
      const { store } = subject;
      const { ids } = await outbox(store, 3);
      expect(idsOf(await store.claimDeliveries(claim("host-1", NOW + 9, 2)))).toEqual(ids.slice(0, 2));
      expect(idsOf(await store.claimDeliveries(claim("host-2", NOW + 9)))).toEqual(ids.slice(2));
      expect(await store.claimDeliveries(claim("host-1", NOW + 9))).toEqual([]);
      expect(await store.claimDeliveries(claim("host-2", NOW + 9 + LEASE_MS - 1))).toEqual([]);
      expect(idsOf(await store.claimDeliveries(claim("host-2", NOW + 9 + LEASE_MS)))).toEqual(ids);
    });

    test("gets the oldest of all when several webhooks have some that are due", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const hooks = upTo(3).map(() => newWebhook(tenant));
      const deliveries = upTo(12).map((n) =>
        newDelivery({ webhookId: hooks[n % 3]?.webhookId ?? "", sequence: n, atMs: NOW + ((n * 5) % 12) }),
      );
      const webhooks = hooks.map((webhook) => ({ type: "put", webhook }) as const);
      await accept(store, { tenant, webhooks, deliveries });
      const oldest = idsOf(deliveries.toSorted((a, b) => a.atMs - b.atMs));
      expect(idsOf(await store.claimDeliveries(claim("host-1", NOW + 20, 5)))).toEqual(oldest.slice(0, 5));
      expect(idsOf(await store.claimDeliveries(claim("host-1", NOW + 20, 2)))).toEqual(oldest.slice(5, 7));
      expect(idsOf(await store.claimDeliveries(claim("host-1", NOW + 20)))).toEqual(oldest.slice(7));
    });

    test("never shares with another", async () => {
      const { store } = subject;
      const { ids } = await outbox(store, 60);
      const work = async (owner: string) => {
        const got: string[] = [];
        for (let some = [""]; some.length > 0; got.push(...some)) {
          some = idsOf(await store.claimDeliveries(claim(owner, NOW + HOUR, 3)));
        }
        return got;
      };
      const got = await Promise.all(["h1", "h2", "h3", "h4", "h5"].map(work));
      expect(got.flat().sort()).toEqual([...ids].sort());
    });

    test("passes over webhooks that are disabled or whose circuit is open", async () => {
      const { store } = subject;
      await outbox(store, 2, { disabledAtMs: NOW });
      const waits = await outbox(store, 1, { circuitUntilMs: NOW + HOUR });
      const sound = await outbox(store, 1);
      expect(idsOf(await store.claimDeliveries(claim("host-1", NOW + HOUR - 1)))).toEqual(sound.ids);
      expect(idsOf(await store.claimDeliveries(claim("host-2", NOW + HOUR)))).toEqual(waits.ids);
    });
  });

  describe("a claim that has enough of a webhook", () => {
    test("leaves its deliveries where they are and gets those of others, callbacks too", async () => {
      const { store } = subject;
      const [enough, more, other] = [await outbox(store, 3), await outbox(store, 1), await outbox(store, 1)];
      const callback = newDelivery({ url: "https://example.com/back", atMs: NOW + 1 });
      await accept(store, { tenant: other.tenant, deliveries: [callback] });
      const except = [enough.webhookId, more.webhookId];
      const claimed = await store.claimDeliveries({ ...claim("host-1", NOW + 9), except });
      expect(idsOf(claimed).sort()).toEqual([...other.ids, callback.deliveryId].sort());
      expect(await store.claimDeliveries(claim("host-1", NOW + 9))).toHaveLength(4);
    });
  });

  describe("an attempt", () => {
    test("that delivered ends the delivery", async () => {
      const { store } = subject;
      const { tenant, ids } = await outbox(store, 1);
      const [deliveryId = ""] = ids;
      await store.claimDeliveries(claim("host-1"));
      expect(await store.finishAttempt(outcome(deliveryId))).toBe(true);
      const [found] = await store.listDeliveries({ tenant }, { limit: 1 });
      expect(found).toMatchObject({ state: "delivered", attempts: 1, lastStatus: 200, finishedAtMs: NOW + 5 });
      expect(found?.nextAtMs).toBeUndefined();
      expect(await store.claimDeliveries(claim("host-1", NOW + DAY))).toEqual([]);
      expect(await store.nextDeliveryAtMs(NOW)).toBeUndefined();
    });

    test("that failed leaves the delivery to be tried again when it is due", async () => {
      const { store } = subject;
      const { tenant, ids } = await outbox(store, 1);
      const [deliveryId = ""] = ids;
      await store.claimDeliveries(claim("host-1"));
      const { lastStatus: _, ...failed } = outcome(deliveryId, {
        state: "pending",
        nextAtMs: NOW + 60,
        lastError: "reset",
      });
      expect(await store.finishAttempt(failed)).toBe(true);
      const [found] = await store.listDeliveries({ tenant }, { limit: 1 });
      expect(found).toMatchObject({ state: "pending", attempts: 1, lastError: "reset", nextAtMs: NOW + 60 });
      expect([found?.finishedAtMs, found?.lastStatus]).toEqual([undefined, undefined]);
      expect(await store.claimDeliveries(claim("host-2", NOW + 59))).toEqual([]);
      expect(await store.claimDeliveries(claim("host-2", NOW + 60))).toHaveLength(1);
    });

    test("of somebody who lost the delivery changes nothing", async () => {
      const { store } = subject;
      const { tenant, webhook, webhookId, ids } = await outbox(store, 1);
      const [deliveryId = ""] = ids;
      await store.claimDeliveries(claim("host-1"));
      await store.claimDeliveries(claim("host-2", NOW + LEASE_MS));
      const late = outcome(deliveryId, { webhook: { webhookId, failures: 7, disabledAtMs: NOW } });
      expect(await store.finishAttempt(late)).toBe(false);
      expect(await store.listDeliveries({ tenant }, { limit: 1 })).toMatchObject([{ state: "pending", attempts: 0 }]);
      expect(await store.readWebhook({ tenant }, webhookId)).toEqual(webhook);
      expect(await store.finishAttempt({ ...late, owner: "host-2" })).toBe(true);
      expect(await store.finishAttempt({ ...late, owner: "host-2" })).toBe(false);
    });

    test("says how its webhook is doing", async () => {
      const { store } = subject;
      const { tenant, webhook, webhookId, ids } = await outbox(store, 2);
      const [first = "", second = ""] = ids;
      await store.claimDeliveries(claim("host-1", NOW + 9));
      const health = { webhookId, failures: 4, failingSinceMs: NOW + 1, circuitUntilMs: NOW + HOUR };
      await store.finishAttempt(outcome(first, { state: "dead", webhook: health }));
      expect(await store.readWebhook({ tenant }, webhookId)).toEqual({ ...webhook, ...health });
      await store.finishAttempt(outcome(second, { webhook: { webhookId, failures: 0 } }));
      expect(await store.readWebhook({ tenant }, webhookId)).toEqual(webhook);
    });

    test("that disables its webhook buries what waits for it, and a late success does not lift that", async () => {
      const { store } = subject;
      const { tenant, webhookId, ids } = await outbox(store, 4);
      const other = await outbox(store, 1);
      const [first = "", second = ""] = ids;
      await store.claimDeliveries(claim("host-1", NOW + 9, 3));
      const disabled = { webhookId, failures: 100, disabledAtMs: NOW + 5 };
      await store.finishAttempt(outcome(first, { state: "dead", lastStatus: 410, webhook: disabled }));
      const states = async () =>
        new Map((await store.listDeliveries({ tenant }, { limit: 10 })).map((one) => [one.deliveryId, one.state]));
      // One of the first three was the other webhook's; what is still held is its holder's to finish.
      const after = await states();
      expect(after.get(first)).toBe("dead");
      expect(after.get(ids[3] ?? "")).toBe("dead");
      expect(after.get(second)).toBe("pending");

      await store.finishAttempt(outcome(second, { webhook: { webhookId, failures: 0 } }));
      expect(await store.readWebhook({ tenant }, webhookId)).toMatchObject({ failures: 0, disabledAtMs: NOW + 5 });
      expect(await store.listDeliveries(other, { limit: 10 })).toMatchObject([{ state: "pending" }]);
    });
  });

  describe("the next delivery", () => {
    test("is due when the first of those is that somebody could claim", async () => {
      const { store } = subject;
      expect(await store.nextDeliveryAtMs(NOW)).toBeUndefined();
      await outbox(store, 1, { disabledAtMs: NOW });
      expect(await store.nextDeliveryAtMs(NOW)).toBeUndefined();

      await outbox(store, 2, { circuitUntilMs: NOW + 5000 });
      expect(await store.nextDeliveryAtMs(NOW)).toBe(NOW + 5000);
      expect(await store.nextDeliveryAtMs(NOW + 5000)).toBe(NOW);

      await outbox(store, 1);
      expect(await store.nextDeliveryAtMs(NOW)).toBe(NOW);
      await store.claimDeliveries(claim("host-1"));
      expect(await store.nextDeliveryAtMs(NOW)).toBe(NOW + LEASE_MS);
      expect(await store.nextDeliveryAtMs(NOW + LEASE_MS)).toBe(NOW);
    });

    test("of a webhook with an open circuit is due no sooner than it would be without", async () => {
      const { store } = subject;
      const webhook = newWebhook(newTenant(), { circuitUntilMs: NOW + 10 });
      const { tenant, webhookId } = webhook;
      const deliveries = [newDelivery({ webhookId, atMs: NOW + 20 })];
      await accept(store, { tenant, webhooks: [{ type: "put", webhook }], deliveries });
      expect(await store.nextDeliveryAtMs(NOW)).toBe(NOW + 20);
    });
  });

  describe("dead deliveries", () => {
    /** Three that failed for good. */
    async function buried(store: Store) {
      const made = await outbox(store, 3);
      await store.claimDeliveries(claim("host-1", NOW + 9));
      for (const id of made.ids)
        await store.finishAttempt(outcome(id, { state: "dead", attempts: 8, lastStatus: 500 }));
      return made;
    }

    test("are due again when somebody asks: one, or all of a webhook", async () => {
      const { store } = subject;
      const { tenant, webhookId, ids } = await buried(store);
      const [deliveryId = ""] = ids;
      expect(await store.redeliver({ tenant }, { deliveryId }, NOW + HOUR)).toBe(1);
      const [claimed, ...none] = await store.claimDeliveries(claim("host-1", NOW + HOUR));
      expect(none).toEqual([]);
      expect(claimed).toMatchObject({
        deliveryId,
        state: "pending",
        attempts: 0,
        lastStatus: 500,
        nextAtMs: NOW + HOUR,
      });
      expect(claimed?.finishedAtMs).toBeUndefined();
      expect(await store.redeliver({ tenant }, { webhookId }, NOW + HOUR)).toBe(2);
      expect(await store.redeliver({ tenant }, { webhookId }, NOW + HOUR)).toBe(0);
      expect(idsOf(await store.claimDeliveries(claim("host-1", NOW + HOUR)))).toEqual(ids.slice(1));
    });

    test("stay dead for another tenant or workspace, and when nobody says which", async () => {
      const { store } = subject;
      const { tenant, webhookId, ids } = await buried(store);
      const [deliveryId = ""] = ids;
      for (const visible of [{ tenant: newTenant() }, { tenant, workspace: "w1" }]) {
        expect(await store.redeliver(visible, { webhookId }, NOW)).toBe(0);
        expect(await store.redeliver(visible, { deliveryId }, NOW)).toBe(0);
      }
      expect(await store.redeliver({ tenant }, {}, NOW)).toBe(0);
      const other = await outbox(store, 0);
      expect(await store.redeliver({ tenant }, { deliveryId, webhookId: other.webhookId }, NOW)).toBe(0);
    });
  });

  describe("a purge of the outbox", () => {
    test("keeps what was delivered for a week, and what was not for a month", async () => {
      const { store } = subject;
      const { tenant, ids } = await outbox(store, 3);
      await outbox(store, 1, { disabledAtMs: NOW });
      const [delivered = "", dead = ""] = ids;
      await store.claimDeliveries(claim("host-1", NOW + 9));
      await store.finishAttempt(outcome(delivered));
      await store.finishAttempt(outcome(dead, { state: "dead" }));
      await store.finishAttempt(outcome(ids[2] ?? "", { state: "pending", nextAtMs: NOW + 20 * DAY }));
      const left = async () => idsOf(await store.listDeliveries({ tenant }, { limit: 10 })).sort();

      expect(await store.purge(NOW + 5 + 7 * DAY - 1)).toBe(0);
      expect(await store.purge(NOW + 5 + 7 * DAY)).toBe(1);
      expect(await left()).toEqual(ids.slice(1));
      // Of the disabled webhook: due for a month, and nobody could deliver it.
      expect(await store.purge(NOW + 30 * DAY)).toBe(1);
      expect(await store.purge(NOW + 5 + 30 * DAY)).toBe(1);
      expect(await left()).toEqual(ids.slice(2));
    });

    test("keeps what could have been delivered all along, had anybody been there", async () => {
      const { store } = subject;
      const { tenant, ids } = await outbox(store, 2);
      await store.purge(NOW + 400 * DAY);
      expect(idsOf(await store.listDeliveries({ tenant }, { limit: 10 })).sort()).toEqual(ids);
    });
  });
}
