import { isId } from "../../protocol/id.ts";
import type { ClaimedDelivery, DeliveryWrite } from "../../store/port/gates.ts";
import type { Host } from "../host.ts";
import { ownTurn } from "../worker/pauses.ts";
import { typesMatching } from "./event-patterns.ts";

/**
 * A commit has at most this many deliveries to webhooks. One with more has a row in their place, from which they are written afterwards, so
 * many at a time: a run of 900 nodes with 100 webhooks has 180,000, which would block the process and the writer.
 */
export const DELIVERIES_MAX = 1000;

const SPREAD = "assay.deliveries.spread";

type Draft = Omit<DeliveryWrite, "deliveryId" | "atMs">;

/** The row in the place of the deliveries of these events to these webhooks. Its sequence is one that no event has. */
export function spreadOf(
  about: Pick<Draft, "runId" | "workspace">,
  [from, to]: readonly [from: number, to: number],
  webhookIds: readonly string[],
): Draft {
  return { ...about, sequence: -1 - from, eventType: SPREAD, url: [to, ...webhookIds].join(" ") };
}

export function isSpread({ eventType, webhookId }: DeliveryWrite): boolean {
  return eventType === SPREAD && webhookId === undefined;
}

/** Writes the deliveries of a row that was written in their place. Again after a crash: those that exist are passed over. */
export async function spread(
  { store, newId }: Pick<Host, "store" | "newId">,
  { tenant, sequence, url = "", runId, workspace, atMs }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<void> {
  const [to = "", ...ids] = url.split(" ");
  const named = new Set(ids.filter(isId));
  const webhooks = (await store.listWebhooks({ tenant }))
    .filter(({ webhookId, disabledAtMs }) => named.has(webhookId) && disabledAtMs === undefined)
    .map(({ webhookId, events }) => ({ webhookId, types: typesMatching(events) }));
  if (webhooks.length === 0) return;
  const atOnce = Math.max(1, Math.floor(DELIVERIES_MAX / webhooks.length));
  for (let next = -1 - sequence; next <= Number(to) && !signal.aborted; ) {
    const events = await store.readEvents(runId, next, Math.min(atOnce, Number(to) + 1 - next));
    if (events.length === 0) return;
    await ownTurn();
    const deliveries = events.flatMap((event) =>
      webhooks
        .filter(({ types }) => types.has(event.type))
        .map(({ webhookId }) => {
          const about = { runId, sequence: event.sequence, eventType: event.type, webhookId, atMs };
          return { deliveryId: newId("dlv"), ...about, ...(workspace === undefined ? {} : { workspace }) };
        }),
    );
    if (deliveries.length > 0) await store.commit({ tenant, deliveries });
    next += events.length;
  }
}
