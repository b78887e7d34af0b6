import { describe, expect, test } from "vitest";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import * as build from "../annotation-builders.ts";
import { NOW, newId, newTenant, startedRun } from "../builders.ts";
import { accept, refused, type Subject, save, upTo } from "./subject.ts";

const { annotate, annotationOf, judging, recording, retracting } = build;

export function annotations(subject: Subject): void {
  describe("an annotation", () => {
    test("comes back as it was recorded, whatever it says", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant(), workspace: "w1" });
      const { tenant } = started.run.owner;
      await save(store, started);
      const full = annotationOf(started.run, {
        agentId: "writer",
        target: { eventId: "evt-1", nodeId: "draft" },
        aboutNode: "draft",
        signal: { kind: "correction", correction: "“Straße” — 漢字\n", label: "tone", rating: 1 },
        note: "it's 'quoted' \\ and\ttabbed 🎉",
        actor: "judge",
        actorKind: "agent",
        confidence: 0.1,
        queueItemId: "itm-1",
        tapeRow: '{"type":"annotation", "event_id":18446744073709551615,"kind":"note" }',
      });
      const plain = annotationOf(started.run);
      await annotate(store, full, plain);
      expect(await store.readAnnotation({ tenant }, full.annotationId)).toEqual(full);
      expect(await store.readAnnotation({ tenant, workspace: "w1" }, plain.annotationId)).toEqual(plain);
    });

    test("is its tenant's and its workspace's own", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant(), workspace: "w1" });
      const { tenant } = started.run.owner;
      const annotation = annotationOf(started.run);
      await save(store, started);
      await annotate(store, annotation);
      for (const visible of [{ tenant: newTenant() }, { tenant, workspace: "w2" }]) {
        expect(await store.readAnnotation(visible, annotation.annotationId)).toBeUndefined();
        expect(await store.listAnnotations(visible, { limit: 9, order: "oldest" })).toEqual([]);
      }
      expect(await store.annotationsById(newTenant(), [annotation.annotationId])).toEqual([]);
      expect(await store.annotationsById(tenant, ["ann-no", annotation.annotationId])).toEqual([annotation]);
      expect(await store.liveAnnotations(newTenant(), [annotation.annotationId])).toEqual([]);
      expect(await store.liveAnnotations(tenant, ["ann-no", annotation.annotationId])).toEqual([
        annotation.annotationId,
      ]);
    });

    test("needs its run, and a run of another tenant is none", async () => {
      const { store } = subject;
      const mine = startedRun({ tenant: newTenant() });
      const others = startedRun({ tenant: newTenant() });
      await save(store, others);
      const { tenant } = mine.run.owner;
      for (const { run } of [mine, others]) {
        const annotation = { ...annotationOf(run), tenant };
        const refusal = await refused(store, judging(tenant, recording(annotation)));
        expect(refusal).toEqual({ type: "version", runId: run.runId, version: 0 });
        expect(await store.readAnnotation({ tenant }, annotation.annotationId)).toBeUndefined();
      }
      expect(await store.auditHead(tenant)).toBeUndefined();
    });

    test("has an id that is not taken", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run);
      await annotate(store, first);
      const { annotationId } = first;
      const again = judging(tenant, recording(annotationOf(run, { annotationId, note: "another" })));
      expect(await refused(store, again)).toEqual({ type: "annotation", annotationId, state: "live" });
      expect(await store.readAnnotation({ tenant }, annotationId)).toEqual(first);
    });

    test("that supersedes another leaves both, and the earlier one knows", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run);
      const second = annotationOf(run, { signal: build.rating(2), createdAtMs: NOW + 7 });
      await annotate(store, first);
      await accept(store, judging(tenant, recording(second, first)));
      expect(await store.annotationsOfRun(run.runId, undefined, 9)).toEqual([
        { ...first, state: "superseded", supersededBy: second.annotationId, supersededAtMs: NOW + 7 },
        { ...second, supersedes: first.annotationId },
      ]);
    });

    test("is superseded once, of however many that try at the same time", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run);
      await annotate(store, first);
      const tries = upTo(8).map((n) => annotationOf(run, { createdAtMs: NOW + 1 + n }));
      const all = await Promise.all(tries.map((one) => store.commit(judging(tenant, recording(one, first)))));
      expect(all.filter(({ ok }) => ok)).toHaveLength(1);
      const { annotationId } = first;
      for (const outcome of all) {
        if (!outcome.ok) expect(outcome.refusal).toEqual({ type: "annotation", annotationId, state: "superseded" });
      }
      const after = await store.readAnnotation({ tenant }, annotationId);
      expect(after?.supersededBy).toBe(tries[all.findIndex(({ ok }) => ok)]?.annotationId);
      expect(await store.annotationsOfRun(run.runId, undefined, 99)).toHaveLength(2);
    });

    test("that was retracted says by whom and why, and cannot be superseded or retracted again", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run);
      await annotate(store, first);
      await accept(store, judging(tenant, retracting(first)));
      const retraction = { by: "sam", atMs: NOW + 5, reason: "wrong run" };
      const after: AnnotationRecord = { ...first, state: "retracted", retraction };
      expect(await store.readAnnotation({ tenant }, first.annotationId)).toEqual(after);
      const refusal = { type: "annotation", annotationId: first.annotationId, state: "retracted" };
      expect(await refused(store, judging(tenant, retracting(first)))).toEqual(refusal);
      expect(await refused(store, judging(tenant, recording(annotationOf(run), first)))).toEqual(refusal);
      expect(await store.annotationsOfRun(run.runId, undefined, 9)).toEqual([after]);
    });

    test("that is a flag is closed once, with a note", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const flag = annotationOf(run, { signal: build.FLAG });
      await annotate(store, flag);
      await accept(store, judging(tenant, build.closing(flag)));
      const closed = { ...flag, flag: { status: "closed", by: "sam", atMs: NOW + 6, note: "looked into" } };
      expect(await store.readAnnotation({ tenant }, flag.annotationId)).toEqual(closed);
      const again = await refused(store, judging(tenant, build.closing(flag)));
      expect(again).toEqual({ type: "annotation", annotationId: flag.annotationId, state: "live" });
    });

    test("nobody has cannot be retracted", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const annotation = annotationOf(run);
      const refusal = await refused(store, judging(tenant, retracting(annotation)));
      expect(refusal).toEqual({ type: "annotation", annotationId: annotation.annotationId });
    });

    test("is written with the rest of its unit or not at all", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run);
      await annotate(store, first);
      const fine = annotationOf(run);
      const unit = judging(tenant, recording(fine), recording({ ...first, note: "again" }));
      expect((await refused(store, unit)).type).toBe("annotation");
      expect(await store.annotationsOfRun(run.runId, undefined, 9)).toEqual([first]);
    });

    test("needs an audit entry, its own tenant, and one thing to happen to it", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run);
      const foreign = { ...annotationOf(run), tenant: newTenant() };
      await expect(store.commit({ tenant, annotations: [recording(first)] })).rejects.toThrow(/audit/);
      await expect(store.commit(judging(tenant, recording(foreign)))).rejects.toThrow(/tenant/);
      await expect(store.commit(judging(tenant, recording(first), retracting(first)))).rejects.toThrow(/two things/);
      expect(await store.annotationsOfRun(run.runId, undefined, 9)).toEqual([]);
    });

    test("comes from elsewhere in any state, also about a run that is not here, which its owner does not see", async () => {
      const { store } = subject;
      const others = await started(subject);
      const tenant = newTenant();
      const imported: AnnotationRecord = { ...build.annotationOf(others.run), tenant, importedBy: "sam" };
      const gone: AnnotationRecord = { ...imported, annotationId: "ann-from-elsewhere", ...RETRACTED };
      await accept(store, judging(tenant, build.importing(imported), build.importing(gone)));
      expect(await store.annotationsById(tenant, [imported.annotationId, gone.annotationId])).toHaveLength(2);
      expect(await store.liveAnnotations(tenant, [imported.annotationId, gone.annotationId])).toEqual([]);
      expect(await store.readAnnotation({ tenant }, gone.annotationId)).toEqual(gone);
      expect(await store.annotationsOfRun(others.run.runId, undefined, 9)).toEqual([]);
    });

    test("that came from elsewhere takes on what happened to it there, unless something happened here", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const first = annotationOf(run, { signal: build.FLAG, importedBy: "sam" });
      const { annotationId } = first;
      const after: AnnotationRecord = { ...first, ...RETRACTED };
      await accept(store, judging(tenant, build.importing(first)));
      expect(await refused(store, judging(tenant, build.importing(after)))).toMatchObject({ annotationId });
      await accept(store, judging(tenant, build.importing(after, first)));
      expect(await store.readAnnotation({ tenant }, annotationId)).toEqual(after);
      const late = await refused(store, judging(tenant, build.importing(after, first)));
      expect(late).toEqual({ type: "annotation", annotationId, state: "retracted" });
    });

    test("is news to whoever listens", async () => {
      const { store } = subject;
      const { run } = await started(subject);
      const heard: boolean[] = [];
      store.onChange(({ annotations, queues }) => heard.push(annotations && !queues));
      await annotate(store, annotationOf(run));
      expect(heard).toEqual([true]);
    });

    test("survives", async () => {
      const { store, reopen } = subject;
      if (reopen === undefined) return;
      const { run } = await started(subject);
      const annotation = annotationOf(run);
      await annotate(store, annotation);
      await store.close();
      expect(await (await reopen()).annotationsOfRun(run.runId, undefined, 9)).toEqual([annotation]);
    });
  });

  describe("the annotations of a run", () => {
    test("come oldest first, in pages, equals by id", async () => {
      const { store } = subject;
      const { run } = await started(subject);
      const all = upTo(7).map((n) => annotationOf(run, { createdAtMs: NOW + Math.floor(n / 3) }));
      await annotate(store, ...all.toReversed());
      const sorted = all.toSorted(byPlace);
      expect(await store.annotationsOfRun(run.runId, undefined, 9)).toEqual(sorted);
      expect(await store.annotationsOfRun(run.runId, sorted[1], 3)).toEqual(sorted.slice(2, 5));
      expect(await store.annotationsOfRun(run.runId, sorted[6], 3)).toEqual([]);
    });

    test("are read some at a time where they are large, and their size is known before", async () => {
      const { store } = subject;
      const { run, tenant } = await started(subject);
      const large = upTo(3).map((n) => annotationOf(run, { createdAtMs: NOW + n, note: build.LARGE_NOTE }));
      await annotate(store, ...large);
      const first = await store.annotationsOfRun(run.runId, undefined, 9);
      expect([[...first], first.cut]).toEqual([large.slice(0, 2), true]);
      const rest = await store.annotationsOfRun(run.runId, large[1], 9);
      expect([rest, rest.cut]).toEqual([large.slice(2), undefined]);
      const ids = large.map(({ annotationId }) => annotationId);
      expect(await store.annotationBytes(tenant, [...ids, "ann-no"])).toBe(3 * build.LARGE_NOTE.length);
      expect(await store.annotationBytes(newTenant(), ids)).toBe(0);
    });
  });

  describe("an event of a run", () => {
    test("is found by its id, with its node", async () => {
      const { store } = subject;
      const begun = startedRun({ tenant: newTenant() });
      await save(store, begun);
      const [event] = begun.events;
      const place = { eventId: event?.eventId, sequence: 0, type: "run.started" };
      expect(await store.findEvent(begun.run.runId, event?.eventId ?? "")).toEqual(place);
      const asked = [event?.eventId ?? "", event?.eventId ?? "", newId("evt"), "x", ""];
      expect(await store.findEvents(begun.run.runId, asked)).toEqual([place]);
      expect(await store.findEvents(newId("run"), asked)).toEqual([]);
    });

    test("is not found by what only looks like its id", async () => {
      const { store } = subject;
      const begun = startedRun({ tenant: newTenant() });
      const other = startedRun({ tenant: newTenant() });
      await save(store, begun);
      await save(store, other);
      const eventId = begun.events[0]?.eventId ?? "";
      const { runId } = begun.run;
      const body = (await store.readEvents(runId, 0, 1))[0]?.body ?? "";
      const rest = body.slice('{"eventId":"'.length, body.indexOf("runId") + "runId".length);
      for (const id of [
        "",
        "%",
        eventId.slice(0, -1),
        `${eventId}x`,
        rest,
        `${eventId}","runId":"`,
        "\u{1f389}",
        "\\",
      ]) {
        expect(await store.findEvent(runId, id)).toBeUndefined();
      }
      expect(await store.findEvent(other.run.runId, eventId)).toBeUndefined();
    });
  });
}

const RETRACTED = { state: "retracted", retraction: { by: "kim", atMs: NOW + 9, reason: "no" } } as const;

function byPlace(a: AnnotationRecord, b: AnnotationRecord): number {
  return a.createdAtMs - b.createdAtMs || (a.annotationId < b.annotationId ? -1 : 1);
}

async function started({ store }: Subject) {
  const tenant = newTenant();
  const begun = startedRun({ tenant });
  await save(store, begun);
  return { tenant, run: begun.run };
}
