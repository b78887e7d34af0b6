import { describe, expect, test } from "vitest";
import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Deletion, RunDeletion } from "../../store/port/judgments.ts";
import type { Change, Store } from "../../store/port/store.ts";
import { annotate, annotationOf, judging, recording } from "../annotation-builders.ts";
import * as build from "../builders.ts";
import { newDelivery, newWebhook, openGate, runCancelled, voteRecorded } from "../gate-builders.ts";
import { judged, newItem, newQueue } from "../queue-builders.ts";
import { accept, refused, type Subject, save } from "./subject.ts";

const { NOW, newId, newTenant, next, runCompleted, startedRun } = build;

/** A run that has ended, stored. */
export async function endedRun(store: Store, start: build.StartedRun): Promise<Run> {
  const started = startedRun(start);
  const ended = next(started, start.atMs ?? NOW, runCompleted());
  await save(store, { run: ended.run, events: [...started.events, ...ended.events] });
  return ended.run;
}

export function deletionOf(run: Run, more: Partial<RunDeletion> = {}): RunDeletion {
  const { tenant, workspace } = run.owner;
  return {
    runId: run.runId,
    tenant,
    ...(workspace === undefined ? {} : { workspace }),
    workflowId: run.workflowId,
    version: run.version,
    reason: "deleted",
    atMs: NOW,
    ...more,
  };
}

export function deletions(subject: Subject): void {
  describe("a run that is deleted", () => {
    test("is gone with everything about it, and leaves that it was there", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const gate = openGate({ tenant, workspace: "w1" });
      const { runId } = gate.run;
      const webhook = newWebhook(tenant);
      await accept(store, { tenant, webhooks: [{ type: "put", webhook }] });
      await save(store, gate);
      const ended = next(gate, NOW, voteRecorded(gate.interruptId, "ada"), runCancelled());
      const deliveries = [newDelivery({ runId, webhookId: webhook.webhookId })];
      const artifacts = [build.artifactWrite(runId)];
      const effectClaims = [build.effectClaim(runId)];
      await accept(store, { tenant, runs: [build.runWrite(ended)], deliveries, artifacts, effectClaims });
      const annotation = annotationOf(ended.run, { note: "seventeen words" });
      await annotate(store, annotation);
      const queue = newQueue(tenant);
      const item = newItem(queue, runId, { reviews: [judged("ada")] });
      await accept(store, {
        tenant,
        queues: [
          { type: "queue", queue },
          { type: "item", item },
        ],
      });

      const deletion = deletionOf(ended.run);
      await accept(store, { tenant, deletions: [deletion] });

      const visible = { tenant };
      expect(await store.readRun(visible, runId)).toBeUndefined();
      expect(await store.runRow(runId)).toBeUndefined();
      expect(await store.readEvents(runId, 0, 9)).toEqual([]);
      expect(await store.interruptRows(runId)).toEqual({ interrupts: [], votes: [] });
      expect(await store.listDeliveries(visible, { limit: 9 })).toEqual([]);
      expect(await store.readArtifact(visible, runId, "report")).toBeUndefined();
      expect(await store.readEffect(`${runId}/a/0`)).toBeUndefined();
      expect(await store.readAnnotation(visible, annotation.annotationId)).toBeUndefined();
      expect(await store.annotationChanges(tenant, { seq: 0, n: 0 }, 9)).toEqual([]);
      expect(await store.listAnnotations(visible, { limit: 9, order: "oldest", words: ["seventeen"] })).toEqual([]);
      expect(await store.countQueueItems(queue.queueId)).toEqual({});
      expect(await store.queueProgress(queue.queueId)).toEqual([]);
      expect(await store.deletionOf(visible, runId)).toBeUndefined();
      expect(await store.readTombstone({ tenant, workspace: "w1" }, runId)).toEqual(deletion);
    });

    test("is gone with more judgments than go at once, and with what was answered about them", async () => {
      const { store } = subject;
      const run = await endedRun(store, { tenant: newTenant() });
      const { tenant } = run.owner;
      const other = await endedRun(store, { tenant });
      const said = Array.from({ length: 1200 }, (_, n) => annotationOf(run, { note: `word ${n}` }));
      await accept(store, judging(tenant, ...said.map((one) => recording(one)), recording(annotationOf(other))));
      const asked = said.slice(0, 2).map(({ annotationId }, n) => {
        const operation = `POST /v1/host/assay/annotations/${annotationId}:retract`;
        return build.idempotencyOutcome(tenant, { operation, key: `k-${n}` });
      });
      for (const idempotency of asked) await accept(store, { tenant, idempotency });
      await refused(store, { tenant, deletions: [deletionOf(run, { version: 9 })] });
      await refused(store, { tenant: newTenant(), deletions: [deletionOf(run)] });
      expect(await store.annotationsOfRun(run.runId, undefined, 2000)).toHaveLength(1200);
      await accept(store, { tenant, deletions: [deletionOf(run)] });
      const left = await store.listAnnotations({ tenant }, { limit: 9, order: "oldest" });
      expect(left.map(({ runId }) => runId)).toEqual([other.runId]);
      expect(await store.annotationChanges(tenant, { seq: 0, n: 0 }, 9)).toHaveLength(1);
      for (const key of asked) expect(await store.readIdempotency(key, NOW)).toBeUndefined();
    });

    test("leaves all other runs as they were", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [one, other] = [await endedRun(store, { tenant }), await endedRun(store, { tenant })];
      const kept = annotationOf(other, { note: "stays" });
      await annotate(store, annotationOf(one, { note: "stays" }), kept);
      const queue = newQueue(tenant);
      const items = [newItem(queue, one.runId), newItem(queue, other.runId)];
      await accept(store, {
        tenant,
        queues: [
          { type: "queue", queue },
          { type: "fill", items },
        ],
      });
      await accept(store, { tenant, deletions: [deletionOf(one)] });
      expect(await store.readRun({ tenant }, other.runId)).toEqual(other);
      expect(await store.readEvents(other.runId, 0, 9)).toHaveLength(2);
      const words = { limit: 9, order: "oldest", words: ["stays"] } as const;
      expect(await store.listAnnotations({ tenant }, words)).toEqual([kept]);
      const left = await store.listQueueItems({ tenant }, { queueId: queue.queueId, limit: 9 });
      expect(left.map(({ runId }) => runId)).toEqual([other.runId]);
    });

    test("takes the answers along that requests about it were given, and no others", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await endedRun(store, { tenant });
      const { runId } = run;
      const annotation = annotationOf(run);
      await annotate(store, annotation);
      const queue = newQueue(tenant);
      const item = newItem(queue, runId);
      await accept(store, {
        tenant,
        queues: [
          { type: "queue", queue },
          { type: "item", item },
        ],
      });
      const about = [
        `POST /v1/runs/${runId}/annotations`,
        `POST /v1/runs/${runId}:pause in w1`,
        `POST /v1/host/assay/runs/${runId}/annotations`,
        `POST /v1/host/assay/tapes/${runId}/sidecar`,
        `POST /v1/host/assay/annotations/${annotation.annotationId}:retract`,
        `POST /v1/host/assay/queues/${queue.queueId}/items/${item.itemId}:judge in w1`,
        `POST /v1/host/assay/queues/${queue.queueId}:next`,
      ];
      const others = [
        "POST /v1/runs",
        `POST /v1/runs/${runId}0/annotations`,
        `DELETE /v1/host/assay/runs/${runId}`,
        `POST /v1/host/assay/queues/${newId("que")}:next`,
      ];
      const response = { status: 200, headers: {}, body: JSON.stringify({ item: { runId } }) };
      for (const operation of [...about, ...others]) {
        await accept(store, { tenant, idempotency: build.idempotencyOutcome(tenant, { operation, response }) });
      }
      // The queue gave out another item.
      const elsewhere = { operation: `POST /v1/host/assay/queues/${queue.queueId}:next`, key: "k-2" };
      await accept(store, { tenant, idempotency: build.idempotencyOutcome(tenant, elsewhere) });
      const foreign = newTenant();
      const same = build.idempotencyOutcome(foreign, { operation: about[0] ?? "" });
      await accept(store, { tenant: foreign, idempotency: same });

      await accept(store, { tenant, deletions: [deletionOf(run)] });
      const known = async (of: string, operation: string) =>
        (await store.readIdempotency({ tenant: of, operation, key: "k-1" }, NOW)) !== undefined;
      expect(await Promise.all(about.map((operation) => known(tenant, operation)))).toEqual(about.map(() => false));
      expect(await Promise.all(others.map((operation) => known(tenant, operation)))).toEqual(others.map(() => true));
      expect(await known(foreign, about[0] ?? "")).toBe(true);
      expect(await store.readIdempotency({ tenant, ...elsewhere }, NOW)).toBeDefined();
    });

    test("is told of to those who follow it", async () => {
      const { store } = subject;
      const run = await endedRun(store, { tenant: newTenant() });
      const told: Change[] = [];
      const stop = store.onChange((change) => told.push(change));
      await accept(store, { tenant: run.owner.tenant, deletions: [deletionOf(run)] });
      stop();
      expect(told).toMatchObject([{ runIds: [run.runId], queues: true, work: false }]);
    });

    test("cannot be written about any more", async () => {
      const { store } = subject;
      const run = await endedRun(store, { tenant: newTenant() });
      const { tenant } = run.owner;
      const queue = newQueue(tenant);
      const item = newItem(queue, run.runId);
      await accept(store, {
        tenant,
        queues: [
          { type: "queue", queue },
          { type: "item", item },
        ],
      });
      await accept(store, { tenant, deletions: [deletionOf(run)] });
      const gone = { type: "version", runId: run.runId, version: 0 };
      const annotations = [{ type: "record", annotation: annotationOf(run) }] as const;
      expect(await refused(store, { tenant, annotations, audit: [build.auditDraft()] })).toEqual(gone);
      expect(await refused(store, { tenant, deletions: [deletionOf(run)] })).toEqual(gone);
      const again = newItem(queue, run.runId);
      expect(await refused(store, { tenant, queues: [{ type: "item", item: again }] })).toEqual(gone);
      const changed = { ...item, revision: 2 };
      expect(await refused(store, { tenant, queues: [{ type: "item", item: changed }] })).toMatchObject({
        revision: 0,
      });
      const release = { ...build.runWrite({ run, events: [] }), lease: "release" as const };
      expect(await refused(store, { tenant, runs: [release] })).toEqual(gone);
    });
  });

  describe("a run that cannot be deleted", () => {
    test("has not ended, has moved, or is another tenant's", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const started = startedRun({ tenant });
      await save(store, started);
      const run = await endedRun(store, { tenant });
      const deletion = deletionOf(run);
      const tries: [RunDeletion, number, string?][] = [
        [deletionOf(started.run), 1],
        [{ ...deletion, version: 1 }, 2],
        [{ ...deletion, version: 3 }, 2],
        [{ ...deletion, runId: newId("run") }, 0],
        [deletion, 0, newTenant()],
      ];
      for (const [wrong, version, by = tenant] of tries) {
        const refusal = await refused(store, { tenant: by, deletions: [wrong] });
        expect(refusal).toEqual({ type: "version", runId: wrong.runId, version });
        expect(await store.readTombstone({ tenant: by }, wrong.runId)).toBeUndefined();
      }
      expect(await store.readEvents(run.runId, 0, 9)).toHaveLength(2);
    });

    test("is still in the hands of a worker", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      const { tenant } = started.run.owner;
      const lease = { owner: "worker-1", untilMs: NOW + 10 };
      await accept(store, { tenant, runs: [build.runWrite(started, { lease })] });
      const ended = next(started, NOW, runCompleted());
      await save(store, ended);
      const refusal = await refused(store, { tenant, deletions: [deletionOf(ended.run)] });
      expect(refusal).toEqual({ type: "lease", runId: ended.run.runId });
      await accept(store, { tenant, deletions: [deletionOf(ended.run, { atMs: NOW + 10 })] });
    });

    test("keeps the others of its unit", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const run = await endedRun(store, { tenant });
      const started = startedRun({ tenant });
      await save(store, started);
      await refused(store, { tenant, deletions: [deletionOf(run), deletionOf(started.run)] });
      expect(await store.readRun({ tenant }, run.runId)).toEqual(run);
    });
  });

  describe("what there is to delete", () => {
    test("is a run with all below it, and what people said about them", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const top = await family(store, tenant);
      const found = await store.deletionOf({ tenant }, top.root.runId);
      expect(idsOf(found)).toEqual([top.root.runId, top.child.runId, top.grandchild.runId]);
      expect(found?.runs[1]).toEqual({ runId: top.child.runId, workflowId: "wf-child", version: 4 });
      expect(found?.active).toEqual([top.grandchild.runId]);
      expect(found?.annotations).toBe(3);
      expect(idsOf(await store.deletionOf({ tenant }, top.child.runId))).toEqual([
        top.child.runId,
        top.grandchild.runId,
      ]);
      expect(await store.deletionOf({ tenant: newTenant() }, top.root.runId)).toBeUndefined();
      expect(await store.deletionOf({ tenant, workspace: "w1" }, top.root.runId)).toBeUndefined();
    });

    test("is not what another run has for a child, however it is listed", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { child } = await family(store, tenant);
      const copy = startedRun({ tenant });
      const listed = next(copy, NOW, build.nodeStarted("sub"), childStarted(child.runId), runCompleted());
      await save(store, { run: listed.run, events: [...copy.events, ...listed.events] });
      expect(idsOf(await store.deletionOf({ tenant }, copy.run.runId))).toEqual([copy.run.runId]);
    });
  });
}

function idsOf(deletion: Deletion | undefined): string[] {
  return (deletion?.runs ?? []).map(({ runId }) => runId);
}

/** Three generations, the last of which has not ended, each with a judgment. */
async function family(store: Store, tenant: string) {
  const [childId, grandchildId] = [newId("run"), newId("run")];
  const root = await listing(store, startedRun({ tenant }), childId);
  const parent = { runId: root.runId, nodeId: "sub", depth: 1, rootRunId: root.runId };
  const started = startedRun({ tenant, runId: childId, workflowId: "wf-child", parent });
  const child = await listing(store, started, grandchildId);
  const below = { ...parent, runId: childId, depth: 2 };
  const grandchild = startedRun({ tenant, runId: grandchildId, parent: below });
  await save(store, grandchild);
  for (const run of [root, child, grandchild.run]) await annotate(store, annotationOf(run));
  return { root, child, grandchild: grandchild.run };
}

async function listing(store: Store, started: build.Built, childRunId: string): Promise<Run> {
  const ended = next(started, NOW, build.nodeStarted("sub"), childStarted(childRunId), runCompleted());
  await save(store, { run: ended.run, events: [...started.events, ...ended.events] });
  return ended.run;
}

function childStarted(childRunId: string): EventDraft {
  const how = { waits: true, propagates: true, takes: [] };
  return {
    type: "assay.child.started",
    nodeId: "sub",
    payload: { nodeId: "sub", childRunId, childWorkflowId: "wf-child", ...how },
  };
}
