import { describe, expect, test } from "vitest";
import type { QueueItemRecord, ReviewRecord } from "../../store/port/judgments.ts";
import { NOW, newId, newTenant } from "../builders.ts";
import { judged, leased, newItem, newQueue, skipped } from "../queue-builders.ts";
import { pick, type Random, randomFrom } from "../random-workflow.ts";
import { prepared, savedItem } from "./queues.ts";
import { accept, refused, type Subject, upTo } from "./subject.ts";

export function queueItems(subject: Subject): void {
  describe("a queue that is filled", () => {
    test("passes over what it has, whatever became of it, and runs that are gone", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const closed = await savedItem(store, newItem(queue, runId, { subject: "a", state: "closed" }));
      const [a, b, again, gone] = [
        newItem(queue, runId, { subject: "a", position: 1 }),
        newItem(queue, runId, { subject: "b", position: 2 }),
        newItem(queue, runId, { subject: "b", position: 3 }),
        newItem(queue, newId("run"), { position: 4 }),
      ];
      await accept(store, { tenant, queues: [{ type: "fill", items: [a, b, again, gone] }] });
      await accept(store, { tenant, queues: [{ type: "fill", items: [newItem(queue, runId, { subject: "b" })] }] });
      expect(await store.listQueueItems({ tenant }, { queueId, limit: 9 })).toEqual([closed, b]);
    });

    test("from many sides at the same time has nothing twice", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const fill = () => upTo(20).map((i) => newItem(queue, runId, { subject: `s-${i}`, position: i }));
      await Promise.all(upTo(6).map(() => accept(store, { tenant, queues: [{ type: "fill", items: fill() }] })));
      const found = await store.listQueueItems({ tenant }, { queueId, limit: 200 });
      expect(found.map((item) => item.subject)).toEqual(upTo(20).map((i) => `s-${i}`));
    });

    test("may be new in the same unit, and must be there otherwise", async () => {
      const { store } = subject;
      const { tenant, runId } = await prepared(store);
      const queue = newQueue(tenant);
      const items = [newItem(queue, runId)];
      const refusal = await refused(store, { tenant, queues: [{ type: "fill", items }] });
      expect(refusal).toEqual({ type: "queue", id: queue.queueId, revision: 0 });
      await accept(store, {
        tenant,
        queues: [
          { type: "queue", queue },
          { type: "fill", items },
        ],
      });
      expect(await store.countQueueItems(queue.queueId)).toEqual({ open: 1 });
    });

    test("takes nothing that somebody is said to have reviewed", async () => {
      const { store } = subject;
      const { tenant, queue, runId } = await prepared(store);
      const items = [newItem(queue, runId, { reviews: [judged("ada")] })];
      await expect(store.commit({ tenant, queues: [{ type: "fill", items }] })).rejects.toThrow("is not new");
    });
  });

  describe("the items of a review queue", () => {
    test("are listed some at a time where they are large", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const body = JSON.stringify({ past: "a".repeat(700_000) });
      const items = await Promise.all(
        upTo(3).map((n) => savedItem(store, newItem(queue, runId, { position: n, subject: `${n}`, body }))),
      );
      const first = await store.listQueueItems({ tenant }, { queueId, limit: 9 });
      expect([[...first], first.cut]).toEqual([items.slice(0, 2), true]);
      const rest = await store.listQueueItems({ tenant }, { queueId, limit: 9, ...(items[1] && { after: items[1] }) });
      expect([rest, rest.cut]).toEqual([items.slice(2), undefined]);
    });

    test("are listed in order, in pages, by state and by reviewer", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const item = (itemId: string, more: Partial<QueueItemRecord>) =>
        savedItem(store, newItem(queue, runId, { itemId: `itm-${itemId}`, subject: itemId, ...more }));
      await item("d", { position: 2, state: "done", reviews: [judged("ada")] });
      await item("b", { position: 1, reviews: [leased("ada", NOW), judged("bob")] });
      await item("a", { position: 1, state: "disputed", reviews: [skipped("bob")] });
      await item("c", { position: 0, state: "done", reviews: [judged("bob")] });
      const list = async (more: object) =>
        idsOf(await store.listQueueItems({ tenant }, { queueId, limit: 9, ...more })).join(" ");
      expect(await list({})).toBe("itm-c itm-a itm-b itm-d");
      expect(await list({ limit: 2 })).toBe("itm-c itm-a");
      expect(await list({ after: { position: 1, itemId: "itm-a" } })).toBe("itm-b itm-d");
      expect(await list({ state: "done" })).toBe("itm-c itm-d");
      expect(await list({ reviewer: "ada" })).toBe("itm-b itm-d");
      expect(await list({ reviewer: "ada", reviewStatus: "judged" })).toBe("itm-d");
      expect(await list({ reviewer: "bob", reviewStatus: "judged", state: "done" })).toBe("itm-c");
      expect(await list({ reviewStatus: "skipped" })).toBe("itm-a");
      expect(await store.countQueueItems(queueId)).toEqual({ open: 1, disputed: 1, done: 2 });
      expect(await store.queueProgress(queueId)).toEqual([
        { reviewer: "ada", judged: 1, skipped: 0, leased: 1 },
        { reviewer: "bob", judged: 2, skipped: 1, leased: 0 },
      ]);
    });

    test("are found by their ids, those of the tenant alone", async () => {
      const { store } = subject;
      const { tenant, queue, runId } = await prepared(store);
      for (const itemId of ["itm-ia", "itm-ib"]) {
        await savedItem(store, newItem(queue, runId, { itemId, subject: itemId, reviews: [judged("ada")] }));
      }
      const found = await store.queueItemsById(tenant, ["itm-ia", "itm-ib", "itm-none"]);
      expect(idsOf(found).sort()).toEqual(["itm-ia", "itm-ib"]);
      expect(found[0]?.reviews).toEqual([judged("ada")]);
      expect(await store.queueItemsById(tenant, [])).toEqual([]);
      expect(await store.queueItemsById(newTenant(), ["itm-ia"])).toEqual([]);
    });

    test("are free for whoever has yet to look at them, unless enough others have or do", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const item = (itemId: string, more: Partial<QueueItemRecord>) =>
        savedItem(store, newItem(queue, runId, { itemId: `itm-${itemId}`, subject: itemId, required: 2, ...more }));
      const later = NOW + 1;
      await item("judged", { reviews: [judged("ada")] });
      await item("skipped", { reviews: [skipped("ada")] });
      await item("held", { reviews: [leased("ada", later)] });
      await item("closed", { state: "closed" });
      await item("done", { state: "done" });
      await item("disputed", { state: "disputed" });
      await item("full", { reviews: [judged("bob"), leased("cyd", later)] });
      await item("z-untouched", { position: 0 });
      await item("passed", { position: 1, reviews: [skipped("bob"), skipped("cyd"), judged("dan")] });
      await item("lapsed", { position: 2, reviews: [leased("ada", NOW), leased("bob", NOW), judged("cyd")] });
      await item("half", { position: 2, reviews: [leased("bob", later)] });
      const query = { queueId, reviewer: "ada", nowMs: NOW, limit: 9 };
      const free = await store.freeQueueItems({ tenant }, query);
      expect(idsOf(free)).toEqual(["itm-z-untouched", "itm-passed", "itm-half", "itm-lapsed"]);
      expect(free[1]?.reviews).toEqual([skipped("bob"), skipped("cyd"), judged("dan")].toSorted(byReviewer));
      expect(idsOf(await store.freeQueueItems({ tenant }, { ...query, limit: 1 }))).toEqual(["itm-z-untouched"]);
      expect(idsOf(await store.freeQueueItems({ tenant }, { ...query, nowMs: later }))).toContain("itm-held");
      expect(await store.freeQueueItems({ tenant: newTenant() }, query)).toEqual([]);
      expect(await store.freeQueueItems({ tenant, workspace: "w1" }, query)).toEqual([]);
    });
  });

  describe("what is free for a reviewer", () => {
    test("is the same whatever happened before, in whatever order", async () => {
      const { store } = subject;
      const { tenant, queue, queueId, runId } = await prepared(store);
      const random = randomFrom(7);
      const reviewers = ["ada", "bob", "cyd"];
      const items = new Map<string, QueueItemRecord>();
      for (let step = 0; step < 150; step++) {
        const known = [...items.values()];
        const grows = random() < 0.1;
        if (known.length < 4 || grows) {
          const more = { position: Math.floor(random() * 20), required: 2 };
          const fresh = [
            newItem(queue, runId, more),
            newItem(queue, runId, { ...more, subject: pick(random, known)?.subject ?? "s" }),
          ];
          await accept(store, { tenant, queues: [{ type: "fill", items: fresh }] });
          for (const item of fresh) {
            if (![...items.values()].some(({ subject: has }) => has === item.subject)) items.set(item.itemId, item);
          }
        } else {
          const before = pick(random, known);
          const after = { ...changed(before, pick(random, reviewers), random), revision: before.revision + 1 };
          await savedItem(store, after);
          items.set(after.itemId, after);
        }
        for (const reviewer of reviewers) {
          const free = await store.freeQueueItems({ tenant }, { queueId, reviewer, nowMs: NOW, limit: 200 });
          expect(idsOf(free), `step ${step}, ${reviewer}`).toEqual(freeAmong([...items.values()], reviewer));
        }
      }
    });
  });
}

/** Mostly judged in order, as people do; sometimes skipped, leased, given back, closed, opened again or moved. */
function changed(item: QueueItemRecord, reviewer: string, random: Random): QueueItemRecord {
  const roll = random();
  const others = item.reviews.filter((review) => review.reviewer !== reviewer);
  if (roll < 0.55) return { ...item, reviews: [...others, judged(reviewer)] };
  if (roll < 0.7) return { ...item, reviews: [...others, skipped(reviewer)] };
  if (roll < 0.8) return { ...item, reviews: [...others, leased(reviewer, pick(random, [NOW - 1, NOW + 1]))] };
  if (roll < 0.87) return { ...item, reviews: [], state: "open" };
  if (roll < 0.94) return { ...item, state: pick(random, ["open", "done", "closed"] as const) };
  return { ...item, position: pick(random, [0, 5, 30]) };
}

function freeAmong(items: readonly QueueItemRecord[], reviewer: string): string[] {
  const holds = ({ status, untilMs = 0 }: ReviewRecord) =>
    status === "judged" || (status === "leased" && untilMs > NOW);
  const free = items.filter(({ state, required, reviews }) => {
    const mine = reviews.find((review) => review.reviewer === reviewer);
    const through = mine !== undefined && (mine.status === "skipped" || holds(mine));
    return state === "open" && !through && reviews.filter(holds).length < required;
  });
  return idsOf(free.sort((a, b) => a.position - b.position || (a.itemId < b.itemId ? -1 : 1)));
}

function idsOf(items: readonly QueueItemRecord[]): string[] {
  return items.map(({ itemId }) => itemId);
}

function byReviewer(a: { reviewer: string }, b: { reviewer: string }): number {
  return a.reviewer < b.reviewer ? -1 : 1;
}
