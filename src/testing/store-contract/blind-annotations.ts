import { describe, expect, test } from "vitest";
import type { AnnotationRecord, QueueItemRecord } from "../../store/port/judgments.ts";
import { annotate, annotationOf } from "../annotation-builders.ts";
import { newTenant, startedRun } from "../builders.ts";
import { judged, leased, newItem, newQueue, skipped } from "../queue-builders.ts";
import { accept, type Subject, save } from "./subject.ts";

export function blindAnnotations(subject: Subject): void {
  /** What Kim is shown of what Pat and Kim said for an item of a queue. */
  async function shownToKim(blind: boolean, more: Partial<QueueItemRecord>): Promise<string[]> {
    const { store } = subject;
    const tenant = newTenant();
    const begun = startedRun({ tenant });
    await save(store, begun);
    const queue = newQueue(tenant, { blind });
    const item = newItem(queue, begun.run.runId, { required: 3, ...more });
    const queues = [
      { type: "queue", queue },
      { type: "item", item },
    ] as const;
    await accept(store, { tenant, queues });
    const queueItemId = item.itemId;
    const said = (actor: string, about: Partial<AnnotationRecord> = {}) => annotationOf(begun.run, { actor, ...about });
    const all = [said("pat", { queueItemId }), said("kim", { queueItemId }), said("free")];
    await annotate(store, ...all);
    const query = { limit: 9, order: "oldest", blindFor: "kim" } as const;
    const found = await store.listAnnotations({ tenant }, query);
    for (const { annotationId } of all) {
      const one = await store.listAnnotations({ tenant }, { ...query, annotationId });
      expect(one).toEqual(found.filter((shown) => shown.annotationId === annotationId));
    }
    return found.map(({ actor }) => actor).sort();
  }

  describe("a list for a reviewer", () => {
    test.each<[string, boolean, Partial<QueueItemRecord>, boolean]>([
      ["hides what others said about an item that the reviewer has yet to judge", true, {}, false],
      ["hides it while the reviewer holds the item", true, { reviews: [leased("kim", 9)] }, false],
      ["hides it when the reviewer passed the item on", true, { reviews: [skipped("kim")] }, false],
      ["hides it when only others have judged", true, { reviews: [judged("pat")] }, false],
      ["shows it when the reviewer has judged", true, { reviews: [judged("kim")] }, true],
      ["shows it when the item is done", true, { state: "done" }, true],
      ["shows it where the queue does not keep it back", false, {}, true],
    ])("%s", async (_, blind, item, shown) => {
      expect(await shownToKim(blind, item)).toEqual(shown ? ["free", "kim", "pat"] : ["free", "kim"]);
    });
  });
}
