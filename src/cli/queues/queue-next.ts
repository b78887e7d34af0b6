import { connect } from "../client/client.ts";
import { showItem } from "../output/describe-queue.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { QUEUE_NEXT_FLAGS } from "./commands.ts";
import { askedFor, findQueue } from "./queue-client.ts";

export async function queueNext(call: Call<typeof QUEUE_NEXT_FLAGS>): Promise<number> {
  const { args, flags, json, config, io } = call;
  const client = connect(config);
  const [named = ""] = args;
  const { queueId, judgment } = await findQueue(client, named);
  const { item } = await client.queues.next(queueId, { leaseSeconds: flags.lease });
  if (json) io.out(JSON.stringify({ item }));
  else if (item === null) io.err("There is nothing for you in this queue now.");
  else {
    io.out(showItem(item, { paint: io.paint, nowMs: Date.now() }));
    io.err(`Look at it with: assay run show ${item.runId}`);
    io.err(
      `Judge it with:   assay queue judge ${printable(named)} ${item.itemId} VALUE  (${printable(askedFor(judgment))})`,
    );
  }
  return item === null ? EXIT.negative : EXIT.fine;
}
