import type { Host } from "../../engine/host.ts";
import type { ItemCommand } from "../../engine/queues/change-item.ts";
import { close, release, renewLease, requeue, skip } from "../../engine/queues/hold-items.ts";
import { addItems, listItems, readItem } from "../../engine/queues/items.ts";
import { adjudicate, judge } from "../../engine/queues/judge-items.ts";
import { createQueue, listQueues, readQueue, updateQueue } from "../../engine/queues/manage-queues.ts";
import { nextItem } from "../../engine/queues/next-item.ts";
import { readAgreement } from "../../engine/queues/read-agreement.ts";
import type { AgreementQuery } from "../../protocol/queues/agreement-api.ts";
import type {
  AddItemsRequest,
  CreateQueueRequest,
  LeaseRequest,
  QueueItemListQuery,
  QueueItemView,
  QueueListQuery,
  UpdateQueueRequest,
} from "../../protocol/queues/api.ts";
import type { QUEUE_OPERATIONS } from "../../protocol/queues/operations.ts";
import { callerOf, type Handler, type Reply, type RequestContext } from "../pipeline/handler.ts";

export const QUEUE_ROUTES: Readonly<Record<keyof typeof QUEUE_OPERATIONS, Handler>> = {
  createQueue: async (context) => {
    const request = context.body as CreateQueueRequest;
    return created(await createQueue(context.host, callerOf(context), request, context.recorder(created)));
  },
  listQueues: async (context) => ok(await listQueues(context.host, callerOf(context), context.query as QueueListQuery)),
  getQueue: async (context) => ok(await readQueue(context.host, callerOf(context), queueIdOf(context))),
  updateQueue: async (context) => {
    const request = context.body as UpdateQueueRequest;
    const caller = callerOf(context);
    return ok(await updateQueue(context.host, caller, queueIdOf(context), request, context.recorder(ok)));
  },
  addQueueItems: async (context) => {
    const request = context.body as AddItemsRequest;
    return ok(await addItems(context.host, { ...asked(context), request, record: context.recorder(ok) }));
  },
  listQueueItems: async (context) => {
    const query = context.query as QueueItemListQuery;
    return ok(await listItems(context.host, callerOf(context), queueIdOf(context), query));
  },
  getQueueItem: async (context) =>
    ok(await readItem(context.host, callerOf(context), queueIdOf(context), itemIdOf(context))),
  nextQueueItem: async (context) => {
    const request = context.body as LeaseRequest;
    return ok(await nextItem(context.host, { ...asked(context), request, record: context.recorder(ok) }));
  },
  judgeQueueItem: changing(judge),
  renewQueueItem: changing(renewLease),
  releaseQueueItem: changing(release),
  skipQueueItem: changing(skip),
  requeueItem: changing(requeue),
  closeQueueItem: changing(close),
  adjudicateItem: changing(adjudicate),
  getQueueAgreement: async (context) => {
    const query = context.query as AgreementQuery;
    return ok(await readAgreement(context.host, callerOf(context), queueIdOf(context), query));
  },
};

function changing<Request>(change: (host: Host, command: ItemCommand<Request>) => Promise<QueueItemView>): Handler {
  return async (context) => {
    const request = context.body as Request;
    const command = { ...asked(context), itemId: itemIdOf(context), request, record: context.recorder(ok) };
    return ok(await change(context.host, command));
  };
}

function asked(context: RequestContext) {
  return { caller: callerOf(context), queueId: queueIdOf(context) };
}

function queueIdOf({ params }: RequestContext): string {
  return params["queueId"] ?? "";
}

function itemIdOf({ params }: RequestContext): string {
  return params["itemId"] ?? "";
}

function ok(json: unknown): Reply {
  return { status: 200, json };
}

function created(json: unknown): Reply {
  return { status: 201, json };
}
