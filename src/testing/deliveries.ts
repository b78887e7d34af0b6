import type { Host } from "../engine/host.ts";
import { type Deliveries, type DeliverySettings, startDeliveries } from "../engine/webhooks/dispatcher.ts";
import { registerWebhook } from "../engine/webhooks/manage-webhooks.ts";
import { RETRY_DEFAULTS } from "../engine/webhooks/retry-policy.ts";
import type { Caller } from "../protocol/identity/identity.ts";
import type { RegisterWebhookRequest, RegisterWebhookResponse } from "../protocol/webhooks/api.ts";
import type { DeliveryQuery, DeliveryRecord } from "../store/port/gates.ts";
import { ADA } from "./engine.ts";

let dispatchers = 0;

/** Delivers with hardly any waiting in between. */
export function deliveriesOn(host: Host, settings: Partial<DeliverySettings> = {}): Deliveries {
  dispatchers += 1;
  return startDeliveries(host, {
    ...RETRY_DEFAULTS,
    firstMs: 1,
    maxMs: 5,
    circuitFirstMs: 5,
    circuitMaxMs: 10,
    owner: `deliveries-${dispatchers}`,
    leaseMs: 60_000,
    sweepMs: 20,
    inHandMax: 512,
    publicUrl: "https://assay.example.com",
    chance: () => 0.5,
    onError: (error) => console.error(error),
    ...settings,
  });
}

export function webhookTo(
  host: Host,
  url: string,
  more: Partial<RegisterWebhookRequest> = {},
  caller: Caller = ADA,
): Promise<RegisterWebhookResponse> {
  return registerWebhook(host, caller, { url, events: ["run.started"], ...more });
}

/** Waits until the deliveries of a tenant are as described; the test's own timeout bounds the wait. */
export async function untilDeliveries(
  host: Pick<Host, "store">,
  holds: (deliveries: readonly DeliveryRecord[]) => boolean,
  query: Partial<DeliveryQuery> = {},
  tenant = "t1",
): Promise<readonly DeliveryRecord[]> {
  for (;;) {
    const deliveries = await host.store.listDeliveries({ tenant }, { limit: 1000, ...query });
    if (holds(deliveries)) return deliveries;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const settled = (deliveries: readonly DeliveryRecord[]): boolean =>
  deliveries.length > 0 && deliveries.every(({ state }) => state !== "pending");
