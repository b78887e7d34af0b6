import type { QueueView } from "../../protocol/queue-api.ts";
import { connect } from "../client.ts";
import type { Call } from "../command.ts";
import { showQueue } from "../describe-queue.ts";
import { findQueue, queuePath } from "../queue-client.ts";

export async function queueShow({ args: [named = ""], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const { queueId } = await findQueue(client, named);
  const queue = await client.json<QueueView>(queuePath(queueId));
  io.out(json ? JSON.stringify(queue) : showQueue(queue, io.paint));
}
