import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type {
  AddItemsRequest,
  AddItemsResponse,
  QueueItemListQuery,
  QueueItemPage,
  QueueItemView,
} from "../../protocol/queues/api.ts";
import type { QueueItemRecord } from "../../store/port/judgments.ts";
import { type ApiRequest, auditDraft, refused, visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { identityOf, type RunIdentity } from "../runs/run-identity.ts";
import { DEFAULT_LIMIT, pageOf, unknownCursor } from "../shared/page.ts";
import { type Seat, seatIn, seatOf } from "./change-item.ts";
import { invalid } from "./decide/rules.ts";
import { fillQueue } from "./fill-queue.ts";
import { hasNode, subjectIn } from "./find-subjects.ts";
import {
  newItem,
  placeOf,
  type Queue,
  requireOpenQueue,
  storedItem,
  subjectOf,
  visibleItem,
  visibleQueue,
} from "./queue-records.ts";
import { itemView } from "./views.ts";

export async function readItem(host: Host, caller: Caller, queueId: string, itemId: string): Promise<QueueItemView> {
  const seat = await seatOf(host, caller, queueId);
  return viewFor(host, seat, (await visibleItem(host, caller, queueId, itemId)).record);
}

export async function listItems(
  host: Host,
  caller: Caller,
  queueId: string,
  { limit = DEFAULT_LIMIT, cursor, state, reviewer, review }: QueueItemListQuery,
): Promise<QueueItemPage> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const { queue } = await fillQueue(host, await visibleQueue(host, caller, queueId));
  const seat = await seatIn(host, caller, queue);
  const found = await host.store.listQueueItems(
    caller,
    defined({ queueId, limit: limit + 1, after, state, reviewer, reviewStatus: review }),
  );
  const { page, next } = pageOf(found, limit, ({ position, itemId }) => `${position}~${itemId}`);
  return { items: page.map((record) => viewFor(host, seat, record)), ...next };
}

function readCursor(cursor: string): { readonly position: number; readonly itemId: string } {
  const [position = "", itemId = ""] = cursor.split("~");
  if (!/^\d{1,15}$/.test(position) || !isId(itemId)) throw unknownCursor({ field: "cursor" });
  return { position: Number(position), itemId };
}

function viewFor(host: Host, { queue, viewer }: Seat, record: QueueItemRecord): QueueItemView {
  return itemView(queue, storedItem(record), viewer, host.nowMs());
}

interface AddItems extends ApiRequest<AddItemsRequest, AddItemsResponse> {
  readonly queueId: string;
}

const ATTEMPTS = 20;

/** Adds all of the items or none; those that the queue has already are skipped. */
export async function addItems(host: Host, { caller, queueId, request, record }: AddItems): Promise<AddItemsResponse> {
  const seat = await seatOf(host, caller, queueId);
  const { queue } = seat;
  requireOpenQueue(queue);
  const asked = new Map(request.items.map((item) => [subjectOf(item), item]));
  const records: QueueItemRecord[] = [];
  const lookUp = subjectsOf(host, caller, [...asked.values()]);
  for (const item of asked.values()) records.push(await itemFor(host, lookUp, queue, item));
  for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
    const known = new Set(await host.store.queueSubjects(queueId, [...asked.keys()]));
    const fresh = records.filter(({ subject }) => !known.has(subject));
    const added = fresh.map((one) => viewFor(host, seat, one));
    const answer: AddItemsResponse = { added, known: request.items.length - added.length };
    const outcome = record(answer);
    const details = { runs: fresh.map(({ runId }) => runId) };
    const committed = await host.store.commit({
      tenant: caller.tenant,
      queues: fresh.map((item) => ({ type: "item", item })),
      ...(fresh.length === 0
        ? {}
        : { audit: [auditDraft(caller, host.nowMs(), queueId, { action: "queue.add", details })] }),
      ...defined({ idempotency: outcome }),
    });
    if (committed.ok) return answer;
    if (committed.refusal.type !== "queue") throw refused(committed.refusal);
  }
  throw new AppError("queue_conflict", { id: queueId });
}

interface LookUp {
  /** The principal that adds the items. */
  readonly by: string;
  run(runId: string): Promise<RunIdentity>;
  hasEvent(runId: string, eventId: string): Promise<boolean>;
}

/** Reads each run, and its log, once for all items about it. */
function subjectsOf(host: Host, caller: Caller, items: AddItemsRequest["items"]): LookUp {
  const runs = new Map<string, Promise<RunIdentity>>();
  const events = new Map<string, Promise<ReadonlySet<string>>>();
  const eventsOf = async (runId: string): Promise<ReadonlySet<string>> => {
    const ids = items.flatMap((item) => (item.runId === runId && item.eventId !== undefined ? [item.eventId] : []));
    return new Set((await host.store.findEvents(runId, ids)).map(({ eventId }) => eventId));
  };
  return {
    by: caller.principal,
    run: (runId) => once(runs, runId, async () => identityOf(await visibleRun(host, caller, runId))),
    hasEvent: async (runId, eventId) => (await once(events, runId, () => eventsOf(runId))).has(eventId),
  };
}

function once<V>(known: Map<string, Promise<V>>, name: string, find: () => Promise<V>): Promise<V> {
  const found = known.get(name) ?? find();
  known.set(name, found);
  return found;
}

async function itemFor(
  host: Host,
  lookUp: LookUp,
  queue: Queue,
  { runId, nodeId, eventId }: AddItemsRequest["items"][number],
): Promise<QueueItemRecord> {
  const run = await lookUp.run(runId);
  const { workspace } = placeOf(queue);
  if (workspace !== undefined && run.owner.workspace !== workspace) {
    throw new AppError("not_found", { what: "run", runId });
  }
  if (nodeId !== undefined && !(await hasNode(host, run, nodeId))) {
    throw invalid("nodeId", `${nodeId} is no node of the workflow of run ${runId}`);
  }
  if (eventId !== undefined) {
    if (nodeId !== undefined) throw invalid("eventId", "an item is about a node or about an event, not both");
    if (!(await lookUp.hasEvent(runId, eventId))) throw invalid("eventId", `${eventId} is no event of run ${runId}`);
  }
  const subject = { ...subjectIn(run, nodeId, host.nowMs()), ...defined({ eventId }), addedBy: lookUp.by };
  return newItem(host, queue, subject);
}
