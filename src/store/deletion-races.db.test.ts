import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Run } from "../protocol/runs/run.ts";
import { annotationOf, judging, recording } from "../testing/annotation-builders.ts";
import { auditDraft, idempotencyOutcome, NOW, newTenant, next, runCompleted, startedRun } from "../testing/builders.ts";
import { judged, leased, newItem, newQueue } from "../testing/queue-builders.ts";
import { deletionOf } from "../testing/store-contract/deletion.ts";
import { accept, save, upTo } from "../testing/store-contract/subject.ts";
import { BOTH_ON_DISK, type OnDisk } from "../testing/stored-text.ts";
import type { Committed, Unit } from "./port/store.ts";

/** What may still name a run that is gone: that it was there. */
const REMAINS = ["audit_log", "run_tombstones"];

describe.each(BOTH_ON_DISK)("runs that are deleted while others write about them on %s", (_, open) => {
  let disk: OnDisk;
  beforeAll(async () => {
    disk = await open();
  });
  afterAll(async () => {
    await Promise.all(disk.stores.map((store) => store.close()));
    await disk.drop();
  });

  test("leave nothing behind, whoever comes first", async () => {
    const [store, ...others] = disk.stores;
    const by = (i: number) => [store, ...others][i % disk.stores.length] ?? store;
    const tenant = newTenant();
    const queue = newQueue(tenant);
    await accept(store, { tenant, queues: [{ type: "queue", queue }] });
    const runs = await Promise.all(
      upTo(12).map(async (): Promise<Run> => {
        const started = startedRun({ tenant });
        const ended = next(started, NOW, runCompleted());
        await save(store, { run: ended.run, events: [...started.events, ...ended.events] });
        return ended.run;
      }),
    );
    const writesAbout = (run: Run, i: number): Unit[] => {
      const operation = `POST /v1/runs/${run.runId}/annotations`;
      const item = newItem(queue, run.runId, { subject: `one of ${run.runId}`, reviews: [judged("ada")] });
      return [
        { ...judging(tenant, recording(annotationOf(run, { note: "word" }))) },
        {
          ...judging(tenant, recording(annotationOf(run))),
          idempotency: idempotencyOutcome(tenant, { operation, key: `k-${i}` }),
        },
        { tenant, queues: [{ type: "fill", items: [newItem(queue, run.runId)] }] },
        { tenant, queues: [{ type: "item", item }] },
      ];
    };
    const outcomes = await Promise.all(
      runs.flatMap((run, i) => {
        const writes = writesAbout(run, i).map((unit, n) => by(n).commit(unit));
        const deletion = by(i).commit({ tenant, deletions: [deletionOf(run)], audit: [auditDraft("run.deleted")] });
        const late = writesAbout(run, i + 100).map((unit, n) => by(n).commit(unit));
        return [...writes, deletion, ...late];
      }),
    );
    const refusals = outcomes.flatMap((one: Committed) => (one.ok ? [] : [one.refusal.type]));
    expect(refusals.filter((type) => type !== "version" && type !== "queue")).toEqual([]);
    expect(await store.countQueueItems(queue.queueId)).toEqual({});
    expect(await store.listAnnotations({ tenant }, { limit: 9, order: "oldest" })).toEqual([]);
    expect(await store.annotationChanges(tenant, { seq: 0, n: 0 }, 9)).toEqual([]);
    for (const { runId } of runs) expect(await store.readTombstone({ tenant }, runId)).toBeDefined();
    for (const { runId } of runs) {
      const left = await disk.tablesWith(runId);
      expect(left.filter((table) => !REMAINS.includes(table))).toEqual([]);
    }
  });

  test("leave no lease of an item that is given out in the same moment", async () => {
    const [store, ...others] = disk.stores;
    const other = others[0] ?? store;
    const tenant = newTenant();
    const queue = newQueue(tenant);
    await accept(store, { tenant, queues: [{ type: "queue", queue }] });
    for (const round of upTo(30)) {
      const started = startedRun({ tenant });
      const { run, events } = next(started, NOW, runCompleted());
      await save(store, { run, events: [...started.events, ...events] });
      const item = newItem(queue, run.runId, { reviews: [leased("eve", NOW)] });
      await accept(store, { tenant, queues: [{ type: "item", item }] });
      const again = { ...item, revision: 2, reviews: [leased("ada", NOW + 1), leased("eve", NOW + 1)] };
      const deleting = other.commit({ tenant, deletions: [deletionOf(run)], audit: [auditDraft("run.deleted")] });
      for (const _ of upTo(round % 6)) await new Promise((resolve) => setImmediate(resolve));
      const leasing = store.commit({ tenant, queues: [{ type: "item", item: again }] });
      expect(await deleting).toEqual({ ok: true });
      await leasing;
    }
    expect(await store.queueProgress(queue.queueId)).toEqual([]);
  });
});
