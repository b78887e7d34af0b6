import type { Judgments } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { NOW } from "../builders.ts";

const visible = { tenant: "t" };
const PLACE = { seq: 1, n: 0 };

/** Every method about judgments. */
export const JUDGMENT_CALLS: Readonly<Record<keyof Judgments, (store: Store) => Promise<unknown>>> = {
  readAnnotation: (store) => store.readAnnotation(visible, "ann-1"),
  annotationsById: (store) => store.annotationsById("t", ["ann-1"]),
  liveAnnotations: (store) => store.liveAnnotations("t", ["ann-1"]),
  annotationBytes: (store) => store.annotationBytes("t", ["ann-1"]),
  annotationsOfRun: (store) => store.annotationsOfRun("run-1", undefined, 1),
  listAnnotations: (store) =>
    store.listAnnotations(visible, { limit: 1, order: "newest", words: ["word"], blindFor: "pat" }),
  annotationChanges: (store) => store.annotationChanges("t", PLACE, 1),
  annotationHead: (store) => store.annotationHead("t"),
  changePlace: (store) => store.changePlace("t", "ann-1", "recorded"),
  changePlaceAt: (store) => store.changePlaceAt("t", NOW),
  findEvents: (store) => store.findEvents("run-1", ["evt-01arz3ndektsv4rrffq69g5fav"]),
  findEvent: (store) => store.findEvent("run-1", "evt-1"),
  feedbackSummary: (store) => store.feedbackSummary(visible, { groupBy: "node" }),
  feedbackRows: (store) => store.feedbackRows("run-1"),
  readQueue: (store) => store.readQueue(visible, "que-1"),
  listQueues: (store) => store.listQueues(visible, { limit: 1 }),
  readQueueItem: (store) => store.readQueueItem(visible, "que-1", "itm-1"),
  queueItemsById: (store) => store.queueItemsById("t", ["itm-1"]),
  listQueueItems: (store) => store.listQueueItems(visible, { queueId: "que-1", limit: 1 }),
  freeQueueItems: (store) => store.freeQueueItems(visible, { queueId: "que-1", reviewer: "pat", nowMs: NOW, limit: 1 }),
  queueSubjects: (store) => store.queueSubjects("que-1", ["s"]),
  queuesAfter: (store) => store.queuesAfter("que-1", 1),
  queueProgress: (store) => store.queueProgress("que-1"),
  countQueueItems: (store) => store.countQueueItems("que-1"),
  endedRuns: (store) => store.endedRuns(visible, { after: { endedAtMs: NOW, runId: "run-1" }, limit: 1 }),
  readTombstone: (store) => store.readTombstone(visible, "run-1"),
  runWorkflows: (store) => store.runWorkflows(),
  expiredRuns: (store) => store.expiredRuns({ tenant: "t", workflowId: "wf", limit: 1, endedBeforeMs: NOW }),
  deletionOf: (store) => store.deletionOf(visible, "run-1"),
  readCursor: (store) => store.readCursor("name", "t"),
  putCursor: (store) => store.putCursor("name", "t", PLACE),
  tenantsBehind: (store) => store.tenantsBehind("name"),
};
