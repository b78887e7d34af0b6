import type { DeliveryInfo } from "../../protocol/webhooks/api.ts";
import { connect } from "../client/client.ts";
import { readUpTo } from "../client/read-up-to.ts";
import { formatAgo } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { WEBHOOK_DELIVERIES_FLAGS } from "./commands.ts";

const LIMIT = 20;

export async function webhookDeliveries(call: Call<typeof WEBHOOK_DELIVERIES_FLAGS>): Promise<undefined> {
  const { args, json, io, flags, config } = call;
  const { limit = LIMIT, state } = flags;
  const client = connect(config);
  const { items: deliveries, nextCursor } = await readUpTo(limit, async (page) => {
    const { deliveries, ...rest } = await client.webhooks.deliveries(args[0] ?? "", { state, ...page });
    return { items: deliveries, ...rest };
  });
  if (json) {
    io.out(JSON.stringify({ deliveries, ...(nextCursor === undefined ? {} : { nextCursor }) }));
    return;
  }
  if (deliveries.length === 0) {
    io.err(flags.state === undefined ? "Nothing was delivered yet." : `Nothing is ${flags.state}.`);
    return;
  }
  const nowMs = Date.now();
  const rows = deliveries.map((delivery) => [
    delivery.deliveryId,
    printable(delivery.eventType),
    delivery.runId,
    delivery.state,
    String(delivery.attempts),
    formatAgo(delivery.createdAt, nowMs),
    printable(lastOf(delivery)),
  ]);
  io.out(formatTable(["DELIVERY", "EVENT", "RUN", "STATE", "ATTEMPTS", "MADE", "LAST ANSWER"], rows, io.paint));
  if (nextCursor !== undefined && io.outIsTerminal) io.err(`There are more; show them with --limit ${limit * 5}.`);
}

function lastOf({ lastStatus, lastError }: DeliveryInfo): string {
  return lastError ?? (lastStatus === undefined ? "-" : String(lastStatus));
}
