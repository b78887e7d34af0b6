import type { QueueItemRecord, QueueRecord, ReviewRecord } from "../store/port/judgments.ts";
import { NOW, newId } from "./builders.ts";

export function newQueue(tenant: string, more: Partial<QueueRecord> = {}): QueueRecord {
  const queueId = newId("que");
  return { queueId, tenant, name: queueId, revision: 1, createdAtMs: NOW, blind: false, body: "{}", ...more };
}

/** Subject and id are its own; the run is whatever the test says. */
export function newItem(queue: QueueRecord, runId: string, more: Partial<QueueItemRecord> = {}): QueueItemRecord {
  const itemId = newId("itm");
  return {
    itemId,
    queueId: queue.queueId,
    tenant: queue.tenant,
    ...(queue.workspace === undefined ? {} : { workspace: queue.workspace }),
    runId,
    subject: itemId,
    state: "open",
    position: 0,
    required: 1,
    revision: 1,
    createdAtMs: NOW,
    reviews: [],
    body: '{"note":"why"}',
    ...more,
  };
}

export function judged(reviewer: string): ReviewRecord {
  return { reviewer, status: "judged", atMs: NOW };
}

export function skipped(reviewer: string): ReviewRecord {
  return { reviewer, status: "skipped", atMs: NOW };
}

export function leased(reviewer: string, untilMs: number): ReviewRecord {
  return { reviewer, status: "leased", untilMs, atMs: NOW };
}
