import type { QueueView } from "../../protocol/queues/api.ts";
import { connect } from "../client/client.ts";
import { showQueue } from "../output/describe-queue.ts";
import type { Call } from "../program/command.ts";
import { findQueue } from "./queue-client.ts";

export function queueClose(call: Call): Promise<undefined> {
  return put(call, "closed");
}

export function queueOpen(call: Call): Promise<undefined> {
  return put(call, "open");
}

async function put({ args: [named = ""], json, config, io }: Call, state: QueueView["state"]): Promise<undefined> {
  const client = connect(config);
  const { queueId, revision } = await findQueue(client, named);
  const queue = await client.queues.update(queueId, { revision, state });
  io.out(json ? JSON.stringify(queue) : showQueue(queue, io.paint));
}
