import type { Store } from "../store/port/store.ts";
import * as build from "./annotation-builders.ts";
import { auditDraft, NOW, next, runCompleted, startedRun } from "./builders.ts";
import { judged, newItem, newQueue } from "./queue-builders.ts";
import { reviewOf, roundOf, writing } from "./review-builders.ts";
import { accept, save } from "./store-contract/subject.ts";
import { importing, pushing, sidecarOf, tapeOf } from "./tape-builders.ts";

/** At least a row in every table of judgments. */
export async function fillJudgments(store: Store, tenant: string): Promise<void> {
  const begun = startedRun({ tenant, metadata: { agentId: "writer" } });
  const { run } = begun;
  await save(store, begun);
  const note = "naïve – 漢字, “quoted” 🦀";
  const first = build.annotationOf(run, { note, actorKind: "agent", confidence: 0.25 });
  await build.annotate(store, first, build.annotationOf(run, { signal: build.label("tone"), aboutNode: "draft" }));
  await accept(store, build.judging(tenant, build.recording(build.annotationOf(run), first)));
  await store.putCursor("otel", tenant, { seq: 1, n: 0 });
  const queue = newQueue(tenant, { blind: true });
  const item = newItem(queue, run.runId, { reviews: [judged("kim")] });
  const queues = [
    { type: "queue", queue },
    // First, so that there is something before which the reviewer is through with everything.
    { type: "fill", items: [newItem(queue, run.runId, { position: 1 })] },
    { type: "item", item },
  ] as const;
  await accept(store, { tenant, queues });

  const tape = tapeOf(run, { name: "a.tape", bodies: ["ab"] });
  await accept(store, { tenant, tapes: [importing(tape), pushing(run, sidecarOf(run, 1))] });

  const review = reviewOf(tenant, { rounds: 1 });
  await accept(store, { tenant, reviews: [writing(review, [roundOf(review, 1)])] });
  await store.claimReview({ tenant }, { sessionId: review.sessionId, owner: "host-1", nowMs: NOW, untilMs: NOW + 1 });

  const gone = startedRun({ tenant });
  await save(store, gone);
  const done = next(gone, NOW, runCompleted());
  await save(store, done);
  const { runId, workflowId, version } = done.run;
  const deletions = [{ runId, tenant, workflowId, version, reason: "deleted", atMs: NOW }] as const;
  await accept(store, { tenant, deletions, audit: [auditDraft("run.deleted")] });
}
