import { describe, expect, test } from "vitest";
import type { QueueItemRecord, QueueRecord } from "../../store/port/judgments.ts";
import type { Change, Store } from "../../store/port/store.ts";
import { HOUR, NOW, newId, newTenant, startedRun } from "../builders.ts";
import { judged, leased, newItem, newQueue, skipped } from "../queue-builders.ts";
import { accept, refused, type Subject, save, upTo } from "./subject.ts";

export async function savedQueue(store: Store, queue: QueueRecord): Promise<QueueRecord> {
  await accept(store, { tenant: queue.tenant, queues: [{ type: "queue", queue }] });
  return queue;
}

export async function savedItem(store: Store, item: QueueItemRecord): Promise<QueueItemRecord> {
  await accept(store, { tenant: item.tenant, queues: [{ type: "item", item }] });
  return item;
}

async function savedRun(store: Store, tenant: string): Promise<string> {
  const built = startedRun({ tenant });
  await save(store, built);
  return built.run.runId;
}

/** A queue of a tenant of its own, and a run to judge. */
export async function prepared(store: Store, more: Partial<QueueRecord> = {}) {
  const tenant = newTenant();
  const queue = await savedQueue(store, newQueue(tenant, more));
  return { tenant, queue, queueId: queue.queueId, runId: await savedRun(store, tenant) };
}

export function queues(subject: Subject): void {
  describe("a review queue", () => {
    test("is found with everything that was said about it", async () => {
      const { store } = subject;
      const { tenant, queue } = await prepared(store);
      const full = newQueue(tenant, { workspace: "w1", blind: true, body: '{ "filter":\t"é\\u0000" }' });
      await savedQueue(store, full);
      expect(await store.readQueue({ tenant }, queue.queueId)).toEqual(queue);
      expect(await store.readQueue({ tenant, workspace: "w1" }, full.queueId)).toEqual(full);
      expect(await store.readQueue({ tenant }, newId("que"))).toBeUndefined();
    });

    test("is seen and changed by its own tenant and workspace only", async () => {
      const { store } = subject;
      const { tenant, queue, queueId } = await prepared(store, { workspace: "w1" });
      const other = { tenant: newTenant() };
      for (const visible of [other, { tenant, workspace: "w2" }]) {
        expect(await store.readQueue(visible, queueId)).toBeUndefined();
        expect(await store.listQueues(visible, { limit: 9 })).toEqual([]);
      }
      const theft = { ...queue, ...other, revision: 2 };
      const refusal = await refused(store, { ...other, queues: [{ type: "queue", queue: theft }] });
      expect(refusal).toEqual({ type: "queue", id: queueId, revision: 0 });
      const again = { ...queue, ...other };
      const taken = await refused(store, { ...other, queues: [{ type: "queue", queue: again }] });
      expect(taken).toEqual({ type: "queue", id: queueId, revision: 0 });
      expect(await store.readQueue({ tenant }, queueId)).toEqual(queue);
    });

    test("is listed newest first, in pages", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const made = await Promise.all(upTo(5).map((i) => savedQueue(store, newQueue(tenant, { queueId: `que-${i}` }))));
      const ids = made.map(({ queueId }) => queueId).reverse();
      const first = await store.listQueues({ tenant }, { limit: 3 });
      const second = await store.listQueues({ tenant }, { limit: 3, before: first.at(-1)?.queueId ?? "" });
      expect([...first, ...second].map(({ queueId }) => queueId)).toEqual(ids);
    });

    test("is listed with few others where their rules are large", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const body = JSON.stringify({ rules: "a".repeat(700_000) });
      const made = await Promise.all(upTo(3).map(() => savedQueue(store, newQueue(tenant, { body }))));
      const sorted = made.toSorted((a, b) => (a.queueId < b.queueId ? 1 : -1));
      const first = await store.listQueues({ tenant }, { limit: 3 });
      expect([[...first], first.cut]).toEqual([sorted.slice(0, 2), true]);
      const rest = await store.listQueues({ tenant }, { limit: 3, before: first.at(-1)?.queueId ?? "" });
      expect([rest, rest.cut]).toEqual([sorted.slice(2), undefined]);
    });

    test("has a name that no other of its workspace has", async () => {
      const { store } = subject;
      const { tenant, queue } = await prepared(store, { name: "triage" });
      const refusal = await refused(store, {
        tenant,
        queues: [{ type: "queue", queue: newQueue(tenant, { name: "triage" }) }],
      });
      expect(refusal).toEqual({ type: "queue", id: queue.queueId, revision: 1 });
      await savedQueue(store, newQueue(tenant, { name: "triage", workspace: "w1" }));
      await savedQueue(store, newQueue(newTenant(), { name: "triage" }));

      const other = await savedQueue(store, newQueue(tenant, { name: "other" }));
      const renamed = { ...other, name: "triage", revision: 2 };
      expect(await refused(store, { tenant, queues: [{ type: "queue", queue: renamed }] })).toMatchObject({
        id: queue.queueId,
      });
    });

    test("gives its name to one of two that ask for it at the same time", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const both = [newQueue(tenant, { name: "n" }), newQueue(tenant, { name: "n" })];
      const done = await Promise.all(both.map((queue) => store.commit({ tenant, queues: [{ type: "queue", queue }] })));
      expect(done.filter(({ ok }) => ok)).toHaveLength(1);
      const [kept] = await store.listQueues({ tenant }, { limit: 9 });
      expect(done.find(({ ok }) => !ok)).toMatchObject({ refusal: { type: "queue", id: kept?.queueId, revision: 1 } });
    });

    test("is changed only by whoever knows how it stands", async () => {
      const { store } = subject;
      const { tenant, queue, queueId } = await prepared(store);
      const next = await savedQueue(store, { ...queue, name: "renamed", blind: true, revision: 2, body: "[2]" });
      for (const revision of [1, 2, 4]) {
        const refusal = await refused(store, { tenant, queues: [{ type: "queue", queue: { ...queue, revision } }] });
        expect(refusal).toEqual({ type: "queue", id: queueId, revision: 2 });
      }
      expect(await store.readQueue({ tenant }, queueId)).toEqual(next);
      const missing = newQueue(tenant, { revision: 2 });
      expect(await refused(store, { tenant, queues: [{ type: "queue", queue: missing }] })).toMatchObject({
        revision: 0,
      });
    });

    test("that changed is told of, and nothing else is", async () => {
      const { store } = subject;
      const { tenant, queue, runId } = await prepared(store);
      const told: Change[] = [];
      const stop = store.onChange((change) => told.push(change));
      await savedQueue(store, { ...queue, revision: 2 });
      await savedItem(store, newItem(queue, runId));
      await accept(store, { tenant, queues: [{ type: "fill", items: [newItem(queue, runId)] }] });
      await save(store, startedRun({ tenant }));
      stop();
      expect(told.map((change) => change.queues)).toEqual([true, true, true, false]);
    });
  });

  describe("an item of a review queue", () => {
    test("is found with everything that was said about it, its reviews by reviewer", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store, { workspace: "w1" });
      const reviews = [judged("ada"), leased("bob", NOW + 1), skipped("cyd")];
      const item = newItem(queue, runId, { state: "disputed", position: 7, required: 3, subject: "s", reviews });
      await savedItem(store, { ...item, reviews: reviews.toReversed() });
      expect(await store.readQueueItem({ tenant }, queueId, item.itemId)).toEqual(item);
      expect(await store.readQueueItem({ tenant, workspace: "w2" }, queueId, item.itemId)).toBeUndefined();
      expect(await store.readQueueItem({ tenant: newTenant() }, queueId, item.itemId)).toBeUndefined();
      expect(await store.readQueueItem({ tenant }, newId("que"), item.itemId)).toBeUndefined();
    });

    test("is changed only by whoever knows how it stands, reviews and all", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const item = await savedItem(store, newItem(queue, runId, { reviews: [judged("ada"), judged("bob")] }));
      const next = { ...item, state: "done", position: 4, required: 2, revision: 2, body: "2" } as const;
      await savedItem(store, { ...next, reviews: [judged("cyd")] });
      for (const revision of [1, 2, 4]) {
        const stale = { ...item, revision, reviews: [] };
        const refusal = await refused(store, { tenant, queues: [{ type: "item", item: stale }] });
        expect(refusal).toEqual({ type: "queue", id: item.itemId, revision: 2 });
      }
      const found = await store.readQueueItem({ tenant }, queueId, item.itemId);
      expect(found).toEqual({ ...next, reviews: [judged("cyd")] });
    });

    test("is given to one of many that change it at the same time", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const item = await savedItem(store, newItem(queue, runId));
      const names = upTo(8).map((i) => `reviewer-${i}`);
      const done = await Promise.all(
        names.map((name) => {
          const next = { ...item, revision: 2, reviews: [leased(name, NOW + HOUR)] };
          return store.commit({ tenant, queues: [{ type: "item", item: next }] });
        }),
      );
      const won = names.filter((_, i) => done[i]?.ok);
      expect(won).toHaveLength(1);
      const found = await store.readQueueItem({ tenant }, queueId, item.itemId);
      expect(found?.reviews.map(({ reviewer }) => reviewer)).toEqual(won);
    });

    test("is about something that no other item of its queue is about", async () => {
      const { store } = subject;
      const { tenant, queue, runId } = await prepared(store);
      const item = await savedItem(store, newItem(queue, runId, { subject: "s" }));
      const second = newItem(queue, runId, { subject: "s" });
      const refusal = await refused(store, { tenant, queues: [{ type: "item", item: second }] });
      expect(refusal).toEqual({ type: "queue", id: item.itemId, revision: 1 });
      const elsewhere = await savedQueue(store, newQueue(tenant));
      await savedItem(store, newItem(elsewhere, runId, { subject: "s" }));
    });

    test("needs its queue and its run", async () => {
      const { store } = subject;
      const { tenant, queue, runId } = await prepared(store);
      const foreign = await prepared(store);
      const lost = newQueue(tenant);
      for (const other of [lost, { ...foreign.queue, tenant }]) {
        const refusal = await refused(store, { tenant, queues: [{ type: "item", item: newItem(other, runId) }] });
        expect(refusal).toEqual({ type: "queue", id: other.queueId, revision: 0 });
      }
      for (const missing of [newId("run"), foreign.runId]) {
        const refusal = await refused(store, { tenant, queues: [{ type: "item", item: newItem(queue, missing) }] });
        expect(refusal).toEqual({ type: "version", runId: missing, version: 0 });
      }
      const item = await savedItem(store, newItem(queue, runId));
      const moved = await savedQueue(store, newQueue(tenant));
      const strayed = { ...item, queueId: moved.queueId, revision: 2 };
      expect(await refused(store, { tenant, queues: [{ type: "item", item: strayed }] })).toMatchObject({
        revision: 0,
      });
    });

    test("is not there when its unit was refused for something else", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const item = newItem(queue, runId);
      const stale = { ...queue, revision: 7 };
      await refused(store, {
        tenant,
        queues: [
          { type: "item", item },
          { type: "queue", queue: stale },
        ],
      });
      expect(await store.readQueueItem({ tenant }, queueId, item.itemId)).toBeUndefined();
    });
  });
}
