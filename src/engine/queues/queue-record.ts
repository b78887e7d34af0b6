import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { QUEUE_STATES, QueueRules } from "../../protocol/queues/api.ts";
import type { ChangePlace, QueueRecord } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";

/** What the engine keeps of a queue beside what the store finds it by. */
export interface QueueBody {
  readonly createdBy: string;
  readonly state: (typeof QUEUE_STATES)[number];
  /** Counts the changes of the rules. The record's own revision also counts every time the queue was filled. */
  readonly rulesRevision: number;
  readonly rules: QueueRules;
  readonly cursor: QueueCursor;
  /** When it was blind the last time, where it no longer is: what items kept back until then is told when they are through. */
  readonly blindUntilMs?: number;
}

/** How far the query has been asked: among runs by when they ended, or among what was said about them. */
export interface QueueCursor {
  readonly ended?: { readonly endedAtMs: number; readonly runId: string };
  readonly place?: ChangePlace;
}

export interface Queue extends QueueBody {
  readonly record: QueueRecord;
}

export function queueOf(record: QueueRecord): Queue {
  return { ...(JSON.parse(record.body) as QueueBody), record };
}

/** The record that makes a change of a queue durable. */
export function nextRecord({ record }: Queue, body: QueueBody): QueueRecord {
  const { name, blind } = body.rules;
  return { ...record, name, blind, revision: record.revision + 1, body: JSON.stringify(body) };
}

export function bodyOf({ record: _, ...body }: Queue): QueueBody {
  return body;
}

export async function visibleQueue(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  queueId: string,
): Promise<Queue> {
  const found = isId(queueId) ? await store.readQueue(visible, queueId) : undefined;
  if (found === undefined) throw new AppError("not_found", { what: "review queue", queueId });
  return queueOf(found);
}

/** The rows that belong to a queue, whoever asks. */
export function placeOf({ record: { tenant, workspace } }: Queue): Visibility {
  return defined({ tenant, workspace });
}

export function requireOpenQueue({ state, record: { queueId } }: Queue): void {
  if (state === "closed") throw new AppError("queue_closed", { queueId });
}
