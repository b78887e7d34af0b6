import { afterEach, beforeEach } from "vitest";
import type { Host } from "../engine/host.ts";
import type { Deliveries, DeliverySettings } from "../engine/webhooks/dispatcher.ts";
import { listWebhooks } from "../engine/webhooks/manage-webhooks.ts";
import { deliveriesOn } from "./deliveries.ts";
import { ADA, begin, engineOn, register } from "./engine.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";
import { workbench } from "./workbench.ts";
import { workflow } from "./workflow.ts";

/** For each test of the file: a store in memory, a receiver, and a host whose deliveries stop when the test does. */
export function deliveryBench() {
  const bench = workbench();
  let host: Host;
  let receiver: WebhookReceiver;
  let started: Deliveries[] = [];
  beforeEach(async () => {
    host = engineOn(bench.store);
    receiver = await WebhookReceiver.start();
    await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }));
  });
  // Before the store is closed, because hooks run in the opposite order of their making.
  afterEach(async () => {
    await Promise.all(started.map((deliveries) => deliveries.stop(0)));
    started = [];
    await receiver.close();
  });
  return {
    get host() {
      return host;
    },
    /** Another way out from here on. */
    set outbound(more: Partial<Host["outbound"]>) {
      host = { ...host, outbound: { ...host.outbound, ...more } };
    },
    get receiver() {
      return receiver;
    },
    work: () => bench.work(host),
    deliver(settings: Partial<DeliverySettings> = {}): Deliveries {
      const deliveries = deliveriesOn(host, settings);
      started.push(deliveries);
      return deliveries;
    },
    run: () => begin(host, { workflowId: "noop" }),
    health: async () => (await listWebhooks(host, ADA)).webhooks[0],
    audited: async () => (await host.store.readAudit("t1", 1, 1000, 1000)).map(({ action }) => action),
  };
}
