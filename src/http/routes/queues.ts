import type { Host } from "../../engine/host.ts";
import type { ItemCommand } from "../../engine/queues/change-item.ts";
import { addItems, listItems, readItem } from "../../engine/queues/items.ts";
import { createQueue, listQueues, readQueue, updateQueue } from "../../engine/queues/manage-queues.ts";
import { nextItem } from "../../engine/queues/next-item.ts";
import { readAgreement } from "../../engine/queues/read-agreement.ts";
import { adjudicate, close, judge, release, renewLease, requeue, skip } from "../../engine/queues/review-items.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { QueueItemView } from "../../protocol/queues/api.ts";
import type { QUEUE_OPERATIONS } from "../../protocol/queues/operations.ts";
import { type HandlersOf, type RequestContext, recordedReply } from "../pipeline/handler.ts";
import { created, ok, type Reply } from "../pipeline/reply.ts";

export const QUEUE_ROUTES: HandlersOf<typeof QUEUE_OPERATIONS> = {
  createQueue: (context) =>
    recordedReply(context, created, (record) => createQueue(context.host, context.caller, context.body, record)),
  listQueues: async ({ host, caller, query }) => ok(await listQueues(host, caller, query)),
  getQueue: async ({ host, caller, params }) => ok(await readQueue(host, caller, params.queueId)),
  updateQueue: (context) =>
    recordedReply(context, ok, (record) => {
      return updateQueue(context.host, context.caller, context.params.queueId, context.body, record);
    }),
  addQueueItems: (context) =>
    recordedReply(context, ok, (record) => addItems(context.host, { ...commandOf(context), record })),
  listQueueItems: async ({ host, caller, params, query }) => ok(await listItems(host, caller, params.queueId, query)),
  getQueueItem: async ({ host, caller, params }) => ok(await readItem(host, caller, params.queueId, params.itemId)),
  nextQueueItem: (context) =>
    recordedReply(context, ok, (record) => nextItem(context.host, { ...commandOf(context), record })),
  judgeQueueItem: changing(judge),
  renewQueueItem: changing(renewLease),
  releaseQueueItem: changing(release),
  skipQueueItem: changing(skip),
  requeueItem: changing(requeue),
  closeQueueItem: changing(close),
  adjudicateItem: changing(adjudicate),
  getQueueAgreement: async ({ host, caller, params, query }) =>
    ok(await readAgreement(host, caller, params.queueId, query)),
};

interface Command<Request, Name extends string> extends Pick<RequestContext, "host" | "recorder"> {
  readonly caller: Caller;
  readonly params: { readonly [name in Name]: string };
  readonly body: Request;
}

function changing<Request>(change: (host: Host, command: ItemCommand<Request>) => Promise<QueueItemView>) {
  return (context: Command<Request, "queueId" | "itemId">): Promise<Reply> =>
    recordedReply(context, ok, (record) => {
      return change(context.host, { ...commandOf(context), itemId: context.params.itemId, record });
    });
}

function commandOf<Request>({ caller, params, body }: Command<Request, "queueId">) {
  return { caller, queueId: params.queueId, request: body };
}
