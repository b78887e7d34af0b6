import { describe, expect, test } from "vitest";
import type { AnnotationChange, AnnotationRecord, ChangePlace } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import * as build from "../annotation-builders.ts";
import { auditDraft, NOW, newTenant, next, nodeStarted, runWrite, startedRun } from "../builders.ts";
import { newItem, newQueue } from "../queue-builders.ts";
import { accept, refused, type Subject, save, upTo } from "./subject.ts";

const { annotate, annotationOf, judging, recording, retracting } = build;
const START: ChangePlace = { seq: 0, n: 0 };
const DAY = 86_400_000;

export function annotationChanges(subject: Subject): void {
  describe("the history of annotations", () => {
    test("begins with nothing", async () => {
      const { store } = subject;
      const tenant = newTenant();
      expect(await store.annotationChanges(tenant, START, 9)).toEqual([]);
      expect(await store.annotationHead(tenant)).toEqual(START);
      expect(await store.changePlaceAt(tenant, NOW)).toEqual(START);
    });

    test("says in order what happened, each with the annotation as it is now", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run);
      const flag = annotationOf(run, { signal: build.FLAG });
      const second = annotationOf(run);
      await annotate(store, first, flag);
      await accept(store, judging(tenant, build.closing(flag)));
      await accept(store, judging(tenant, recording(second, first)));
      await accept(store, judging(tenant, retracting({ ...second, supersedes: first.annotationId })));
      const changes = await store.annotationChanges(tenant, START, 99);
      expect(changes.map(({ change, annotation }) => [change, annotation.annotationId, annotation.state])).toEqual([
        ["recorded", first.annotationId, "superseded"],
        ["recorded", flag.annotationId, "live"],
        ["closed", flag.annotationId, "live"],
        ["recorded", second.annotationId, "retracted"],
        ["superseded", first.annotationId, "superseded"],
        ["retracted", second.annotationId, "retracted"],
      ]);
      expect(changes[1]?.annotation.flag?.status).toBe("closed");
      expect(await store.annotationHead(tenant)).toEqual(changes.at(-1)?.place);
    });

    test("is read some at a time where annotations are large", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const large = upTo(3).map(() => annotationOf(run, { note: build.LARGE_NOTE }));
      for (const one of large) await annotate(store, one);
      const first = await store.annotationChanges(tenant, START, 9);
      expect([first.map(({ annotation }) => annotation), first.cut]).toEqual([large.slice(0, 2), true]);
      const rest = await store.annotationChanges(tenant, first.at(-1)?.place ?? START, 9);
      expect([rest.map(({ annotation }) => annotation), rest.cut]).toEqual([large.slice(2), undefined]);
    });

    test("has the places of the audit entries that were committed with it", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const [one, two, three] = [annotationOf(run), annotationOf(run), annotationOf(run)];
      await accept(store, { tenant, audit: [auditDraft("run.create")] });
      const audit = [auditDraft("annotation.record"), auditDraft("queue.judge")];
      await accept(store, { tenant, annotations: [recording(one), recording(two)], audit });
      await annotate(store, three);
      expect((await store.annotationChanges(tenant, START, 9)).map(({ place }) => place)).toEqual([
        { seq: 3, n: 0 },
        { seq: 3, n: 1 },
        { seq: 4, n: 0 },
      ]);
    });

    test("is read in pages that miss nothing", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const all = upTo(12).map(() => annotationOf(run));
      for (let i = 0; i < all.length; i += 3) await annotate(store, ...all.slice(i, i + 3));
      const found = await everything(store, tenant, 5);
      expect(found.map(({ annotation }) => annotation)).toEqual(all);
    });

    test("of many who write at the same time has every change once, in order", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const all = upTo(40).map(() => annotationOf(run));
      await Promise.all(all.map((one) => annotate(store, one)));
      const found = await everything(store, tenant, 7);
      expect(new Set(found.map(({ annotation }) => annotation.annotationId)).size).toBe(all.length);
      expect(found.map(({ place }) => place.seq)).toEqual(upTo(40).map((n) => n + 1));
    });

    test("is not touched by a unit that was refused, nor by one without annotations", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const annotation = annotationOf(run);
      await annotate(store, annotation);
      const head = await store.annotationHead(tenant);
      await refused(store, judging(tenant, recording(annotation)));
      await accept(store, { tenant, audit: [auditDraft("run.create")] });
      expect(await store.annotationHead(tenant)).toEqual(head);
    });

    test("is its tenant's own", async () => {
      const { store } = subject;
      const { run } = await started(subject);
      await annotate(store, annotationOf(run));
      expect(await store.annotationChanges(newTenant(), START, 9)).toEqual([]);
    });

    test("knows the place of a change", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const annotation = annotationOf(run);
      await annotate(store, annotation);
      await accept(store, judging(tenant, retracting(annotation)));
      const { annotationId } = annotation;
      expect(await store.changePlace(tenant, annotationId, "recorded")).toEqual({ seq: 1, n: 0 });
      expect(await store.changePlace(tenant, annotationId, "retracted")).toEqual({ seq: 2, n: 0 });
      expect(await store.changePlace(tenant, annotationId, "closed")).toBeUndefined();
      expect(await store.changePlace(newTenant(), annotationId, "recorded")).toBeUndefined();
    });

    /** One after the other, each with the time of its recording, in days, and that which it says itself. */
    async function recordedOn(days: readonly (readonly [recorded: number, says: number, importedBy?: string])[]) {
      const { run, tenant } = await started(subject);
      const annotations: AnnotationRecord[] = [];
      for (const [recorded, says, importedBy] of days) {
        const createdAtMs = NOW + says * DAY;
        const annotation = annotationOf(run, { createdAtMs, ...(importedBy === undefined ? {} : { importedBy }) });
        const write = importedBy === undefined ? recording(annotation) : build.importing(annotation);
        const audit = [
          { ...auditDraft("annotation.create"), occurredAt: new Date(NOW + recorded * DAY).toISOString() },
        ];
        await accept(subject.store, { ...judging(tenant, write), audit });
        annotations.push(annotation);
      }
      /** How many of them are passed over by who begins at a day. */
      const passedAt = async (day: number) => {
        const place = await subject.store.changePlaceAt(tenant, NOW + day * DAY);
        const found = await subject.store.annotationChanges(tenant, place, 99);
        const passed = annotations.length - found.length;
        expect(found.map(({ annotation }) => annotation)).toEqual(annotations.slice(passed));
        return passed;
      };
      return { passedAt };
    }

    test("can be gone on with from a time: all that was recorded then, later, or up to a day before", async () => {
      // By two hosts, the clock of one of which is ahead.
      const { passedAt } = await recordedOn([0, 2, 4.5, 4, 6, 8].map((day) => [day, day] as const));
      const passed: number[] = [];
      for (const day of [-1, 0, 1, 2, 3, 3.5, 5, 5.1, 7.5, 20]) passed.push(await passedAt(day));
      expect(passed).toEqual([0, 0, 0, 1, 1, 2, 2, 2, 5, 6]);
    });

    test("is gone on with by when things were recorded, whenever they say that it was", async () => {
      const { passedAt } = await recordedOn([
        [1, 1],
        [3, 3],
        [3, -9, "sam"],
        [5, 9, "sam"],
        [7, 0],
        [9, 9],
      ]);
      const passed: number[] = [];
      for (const day of [-8, 0, 2.5, 4.5, 8.5]) passed.push(await passedAt(day));
      expect(passed).toEqual([0, 0, 1, 3, 5]);
    });

    test("of what comes from elsewhere says what changed, and nothing when nothing did", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run, { signal: build.FLAG, importedBy: "sam" });
      const flag = { status: "closed", by: "kim", atMs: NOW, note: "done" } as const;
      const retraction = { by: "kim", atMs: NOW, reason: "no" };
      const after: AnnotationRecord = { ...first, state: "retracted", retraction, flag };
      await accept(store, judging(tenant, build.importing(first)));
      await accept(store, judging(tenant, build.importing(first, first)));
      await accept(store, judging(tenant, build.importing(after, first)));
      const changes = await store.annotationChanges(tenant, START, 9);
      expect(changes.map(({ change, place }) => [change, place])).toEqual([
        ["recorded", { seq: 1, n: 0 }],
        ["retracted", { seq: 3, n: 0 }],
        ["closed", { seq: 3, n: 1 }],
      ]);
      expect(changes[0]?.annotation).toEqual(after);
    });

    test("has a judgment once more when its item hides it no more, and until then says that it is withheld", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const queue = newQueue(tenant, { blind: true });
      const item = newItem(queue, run.runId, { required: 2 });
      const queues = [{ type: "queue", queue } as const, { type: "item", item } as const];
      await accept(store, { tenant, queues });
      const [hidden, free] = [annotationOf(run, { queueItemId: item.itemId }), annotationOf(run)];
      await annotate(store, hidden, free);
      const counted = await store.feedbackRows(run.runId);
      const history = async () => {
        const changes = await store.annotationChanges(tenant, START, 9);
        return changes.map(({ change, annotation, withheld }) => [change, annotation, withheld]);
      };
      const before = [
        ["recorded", hidden, true],
        ["recorded", free, false],
      ];
      expect(await history()).toEqual(before);
      const shows = judging(tenant, { type: "show", earlier: hidden });
      const at = (revision: number, state: "done" | "open") =>
        ({ type: "item", item: { ...item, revision, state } }) as const;
      await accept(store, { ...shows, queues: [at(2, "done")] });
      expect(await history()).toEqual([...before, ["shown", hidden, false]]);
      expect(await store.feedbackRows(run.runId)).toEqual(counted);
      await accept(store, { tenant, queues: [at(3, "open")] });
      expect(await history()).toEqual([...before, ["shown", hidden, true]]);
      await accept(store, judging(tenant, retracting(hidden)));
      expect(await refused(store, shows)).toMatchObject({ type: "annotation", state: "retracted" });
    });

    test("goes on in the commits of a run's own events", async () => {
      const { store } = subject;
      const begun = startedRun({ tenant: newTenant() });
      const { tenant } = begun.run.owner;
      await save(store, begun);
      const moved = next(begun, NOW + 1, nodeStarted());
      const unit = judging(tenant, recording(annotationOf(begun.run)));
      await accept(store, { ...unit, runs: [runWrite(moved)] });
      expect(await store.annotationChanges(tenant, START, 9)).toHaveLength(1);
      expect((await store.readRun({ tenant }, begun.run.runId))?.version).toBe(2);
    });
  });

  describe("whoever passes annotations on", () => {
    test("finds how far it has come, by name and tenant", async () => {
      const { store } = subject;
      const tenant = newTenant();
      expect(await store.readCursor("otel", tenant)).toBeUndefined();
      await store.putCursor("otel", tenant, { seq: 4, n: 1 });
      await store.putCursor("otel", tenant, { seq: 9, n: 0 });
      await store.putCursor("other", tenant, { seq: 2, n: 0 });
      expect(await store.readCursor("otel", tenant)).toEqual({ seq: 9, n: 0 });
      expect(await store.readCursor("otel", newTenant())).toBeUndefined();
    });

    test("is told which tenants have more for it", async () => {
      const { store } = subject;
      const tenants = await Promise.all(upTo(3).map(() => started(subject)));
      await accept(store, { tenant: newTenant(), audit: [auditDraft("run.create")] });
      for (const { run } of tenants) await annotate(store, annotationOf(run), annotationOf(run));
      const [behind, between, done] = tenants.map(({ tenant }) => tenant) as [string, string, string];
      await store.putCursor("otel", between, { seq: 1, n: 0 });
      await store.putCursor("otel", done, { seq: 1, n: 1 });
      expect(await store.tenantsBehind("otel")).toEqual([behind, between].toSorted());
      expect(await store.tenantsBehind("other")).toEqual([behind, between, done].toSorted());
    });
  });
}

async function everything(store: Store, tenant: string, limit: number): Promise<AnnotationChange[]> {
  const found: AnnotationChange[] = [];
  for (let page = await store.annotationChanges(tenant, START, limit); page.length > 0; ) {
    found.push(...page);
    page = await store.annotationChanges(tenant, found.at(-1)?.place ?? START, limit);
  }
  return found;
}

async function started({ store }: Subject) {
  const tenant = newTenant();
  const begun = startedRun({ tenant });
  await save(store, begun);
  return { tenant, run: begun.run };
}
