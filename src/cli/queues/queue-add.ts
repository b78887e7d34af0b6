import { AppError } from "../../protocol/errors.ts";
import type { AddItemsResponse } from "../../protocol/queues/api.ts";
import { connect } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import type { QUEUE_ADD_FLAGS } from "./commands.ts";
import { findQueue } from "./queue-client.ts";

/** What one request takes. */
const AT_ONCE = 100;

export async function queueAdd(call: Call<typeof QUEUE_ADD_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const client = connect(config);
  const [named = "", ...runIds] = args;
  const { queueId } = await findQueue(client, named);
  if (flags.event !== undefined && (runIds.length > 1 || flags.node !== undefined)) {
    throw new AppError("unusable_input", { problem: "--event goes with one run, and not with --node" });
  }
  const all = runIds.map((runId) => ({
    runId,
    ...(flags.node === undefined ? {} : { nodeId: flags.node }),
    ...(flags.event === undefined ? {} : { eventId: flags.event }),
  }));
  const total: AddItemsResponse = { added: [], known: 0 };
  for (let i = 0; i < all.length; i += AT_ONCE) {
    const { added, known } = await client.queues.addItems(queueId, { items: all.slice(i, i + AT_ONCE) });
    total.added.push(...added);
    total.known += known;
  }
  if (json) io.out(JSON.stringify(total));
  else
    io.out(
      `${formatCount(total.added.length, "item")} added${total.known > 0 ? `, ${total.known} known already` : ""}`,
    );
}
