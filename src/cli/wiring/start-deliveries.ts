import type { Logger } from "pino";
import type { Host } from "../../engine/host.ts";
import { type Deliveries, startDeliveries } from "../../engine/webhooks/dispatcher.ts";
import { RETRY_DEFAULTS } from "../../engine/webhooks/retry-policy.ts";
import type { Sample } from "../../http/routes/metrics.ts";
import type { Config } from "../settings/settings.ts";
import type { Shutdown } from "./shutdown.ts";

/** A lane of waiting deliveries is worked through in less than this many times the longest attempt. */
const LEASE_ATTEMPTS = 12;
const SWEEP_MS = 1000;
const IN_HAND_MAX = 512;

export interface DeliveryPart {
  /** Begins to send what the outbox holds. `ownUrl` is where this process listens; "" where it does not. */
  start(ownUrl: string): void;
  samples(): readonly Sample[];
}

/** Sends webhooks and callbacks from the time it is started until the shutdown hands back what is left. */
export function deliveryPart(host: Host, config: Config, log: Logger, shutdown: Shutdown): DeliveryPart {
  let deliveries: Deliveries | undefined;
  shutdown.add("deliveries", (remainingMs) => deliveries?.stop(remainingMs));
  return {
    start(ownUrl) {
      deliveries = startDeliveries(host, {
        ...RETRY_DEFAULTS,
        attemptsMax: config.webhookAttempts,
        firstMs: config.webhookRetryMs,
        maxMs: config.webhookRetryMaxMs,
        circuitFirstMs: Math.min(RETRY_DEFAULTS.circuitFirstMs, config.webhookRetryMaxMs),
        circuitMaxMs: Math.min(RETRY_DEFAULTS.circuitMaxMs, config.webhookRetryMaxMs),
        owner: host.newId("wrk"),
        leaseMs: LEASE_ATTEMPTS * config.webhookTimeoutMs,
        sweepMs: SWEEP_MS,
        inHandMax: IN_HAND_MAX,
        publicUrl: config.publicUrl ?? ownUrl,
        chance: Math.random,
        onError: (error) => log.error({ err: error }, "deliveries"),
      });
    },
    samples: () => (deliveries === undefined ? [] : samplesOf(deliveries)),
  };
}

function samplesOf(deliveries: Deliveries): Sample[] {
  const { inHand, delivered, failed, dead } = deliveries.stats();
  const counter = (name: string, help: string, value: number): Sample => ({ name, help, type: "counter", value });
  return [
    { name: "assay_deliveries", help: "Deliveries this process has in hand.", type: "gauge", value: inHand },
    counter("assay_deliveries_delivered_total", "Deliveries that a receiver took.", delivered),
    counter("assay_deliveries_failed_total", "Attempts of a delivery that failed.", failed),
    counter("assay_deliveries_dead_total", "Deliveries that were given up.", dead),
  ];
}
