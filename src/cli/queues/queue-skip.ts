import { AppError } from "../../protocol/errors.ts";
import type { QueueItemView } from "../../protocol/queues/api.ts";
import { connect } from "../client/client.ts";
import { showItem } from "../output/describe-queue.ts";
import type { Call } from "../program/command.ts";
import type { QUEUE_REASON_FLAGS } from "./commands.ts";
import { findQueue, itemPath } from "./queue-client.ts";

export function queueSkip(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  requireReason(call, "say why you leave it to others");
  return send(call, "skip");
}

export function queueDrop(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  requireReason(call, "say why nobody is to judge it");
  return send(call, "close");
}

export function queueRequeue(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  return send(call, "requeue");
}

function requireReason({ flags }: Call<typeof QUEUE_REASON_FLAGS>, advice: string): void {
  if (flags.reason === undefined) throw new AppError("unusable_input", { problem: `--reason is missing; ${advice}` });
}

async function send(call: Call<typeof QUEUE_REASON_FLAGS>, verb: "skip" | "requeue" | "close"): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const client = connect(config);
  const [named = "", itemId = ""] = args;
  const { queueId } = await findQueue(client, named);
  const body = flags.reason === undefined ? {} : { reason: flags.reason };
  const item = await client.json<QueueItemView>(itemPath(queueId, itemId, verb), { method: "POST", body });
  io.out(json ? JSON.stringify(item) : showItem(item, { paint: io.paint, nowMs: Date.now() }));
}
