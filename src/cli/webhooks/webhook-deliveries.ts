import type { DeliveryInfo, ListDeliveriesResponse } from "../../protocol/webhooks/api.ts";
import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import { formatAgo } from "../output/when.ts";
import type { Call } from "../program/command.ts";
import type { WEBHOOK_DELIVERIES_FLAGS } from "./commands.ts";

const LIMIT = 20;
const PAGE_MAX = 200;

export async function webhookDeliveries(call: Call<typeof WEBHOOK_DELIVERIES_FLAGS>): Promise<undefined> {
  const { json, io, flags } = call;
  const { limit = LIMIT } = flags;
  const { deliveries, nextCursor } = await readDeliveries(call, limit);
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

async function readDeliveries(
  { args, flags, config }: Call<typeof WEBHOOK_DELIVERIES_FLAGS>,
  limit: number,
): Promise<ListDeliveriesResponse> {
  const client = connect(config);
  const path = `/v1/host/assay/webhooks/${encodeURIComponent(args[0] ?? "")}/deliveries`;
  const deliveries: DeliveryInfo[] = [];
  let cursor: string | undefined;
  do {
    const query = { state: flags.state, cursor, limit: Math.min(limit - deliveries.length, PAGE_MAX) };
    const page: ListDeliveriesResponse = await client.json(path, { query });
    deliveries.push(...page.deliveries);
    cursor = page.nextCursor;
  } while (cursor !== undefined && deliveries.length < limit);
  return cursor === undefined ? { deliveries } : { deliveries, nextCursor: cursor };
}

function lastOf({ lastStatus, lastError }: DeliveryInfo): string {
  return lastError ?? (lastStatus === undefined ? "-" : String(lastStatus));
}
