import type { QueueItemView } from "../../protocol/queues/api.ts";
import { connect } from "../client/client.ts";
import { readUpTo } from "../client/read-up-to.ts";
import { stateText } from "../output/describe-queue.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { QUEUE_ITEMS_FLAGS } from "./commands.ts";
import { findQueue } from "./queue-client.ts";

const LIMIT = 50;

export async function queueItems(call: Call<typeof QUEUE_ITEMS_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const client = connect(config);
  const { queueId } = await findQueue(client, args[0] ?? "");
  const { limit = LIMIT, state, reviewer, review } = flags;
  const filter = { state, reviewer, review };
  const found = await readUpTo(limit, (page) => client.queues.items(queueId, { ...filter, ...page }));
  const { items, nextCursor } = found;
  if (json) io.out(JSON.stringify(found));
  else if (items.length === 0) io.err("No such items.");
  else {
    io.out(table(items, io.paint));
    if (nextCursor !== undefined && io.errIsTerminal) io.err(`There are more; show them with --limit ${limit * 5}.`);
  }
}

function table(items: readonly QueueItemView[], paint: Paint): string {
  const rows = items.map((item) => [
    item.itemId,
    stateText(item, paint),
    printable(`${item.runId} ${item.nodeId ?? item.eventId ?? ""}`.trimEnd()),
    item.final === null ? "-" : printable(String(item.final.value)),
    item.mine?.status ?? "-",
    item.judgments === null ? paint.dim("hidden") : judgments(item.judgments),
  ]);
  return formatTable(["ITEM", "STATE", "RUN", "FINAL", "MINE", "JUDGMENTS"], rows, paint);
}

function judgments(given: NonNullable<QueueItemView["judgments"]>): string {
  return printable(given.map(({ reviewer, value }) => `${reviewer}: ${value}`).join(", ")) || "-";
}
