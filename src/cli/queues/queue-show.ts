import { connect } from "../client/client.ts";
import { showQueue } from "../output/describe-queue.ts";
import type { Call } from "../program/command.ts";
import { findQueue } from "./queue-client.ts";

export async function queueShow({ args: [named = ""], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const { queueId } = await findQueue(client, named);
  const queue = await client.queues.get(queueId);
  io.out(json ? JSON.stringify(queue) : showQueue(queue, io.paint));
}
