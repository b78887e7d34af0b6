import { AppError } from "../../protocol/errors.ts";
import type { QueueItemView } from "../../protocol/queues/api.ts";
import { type Client, connect } from "../client/client.ts";
import { showItem } from "../output/describe-queue.ts";
import type { Call } from "../program/command.ts";
import type { QUEUE_REASON_FLAGS } from "./commands.ts";
import { findQueue } from "./queue-client.ts";

export function queueSkip(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  const reason = requireReason(call, "say why you leave it to others");
  return send(call, ({ queues }, queueId, itemId) => queues.skip(queueId, itemId, { reason }));
}

export function queueDrop(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  const reason = requireReason(call, "say why nobody is to judge it");
  return send(call, ({ queues }, queueId, itemId) => queues.closeItem(queueId, itemId, { reason }));
}

export function queueRequeue(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  const { reason } = call.flags;
  return send(call, ({ queues }, queueId, itemId) => queues.requeue(queueId, itemId, { reason }));
}

function requireReason({ flags }: Call<typeof QUEUE_REASON_FLAGS>, advice: string): string {
  if (flags.reason === undefined) throw new AppError("unusable_input", { problem: `--reason is missing; ${advice}` });
  return flags.reason;
}

type Send = (client: Client, queueId: string, itemId: string) => PromiseLike<QueueItemView>;

async function send({ args, json, config, io }: Call<typeof QUEUE_REASON_FLAGS>, act: Send): Promise<undefined> {
  const client = connect(config);
  const [named = "", itemId = ""] = args;
  const { queueId } = await findQueue(client, named);
  const item = await act(client, queueId, itemId);
  io.out(json ? JSON.stringify(item) : showItem(item, { paint: io.paint, nowMs: Date.now() }));
}
