import { describe, expect, test } from "vitest";
import { settled, untilDeliveries, webhookTo } from "../../testing/deliveries.ts";
import { deliveryBench } from "../../testing/delivery-bench.ts";
import { ADA } from "../../testing/engine.ts";
import { expectedSignature, WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { redeliver } from "./deliveries.ts";
import { enableWebhook } from "./manage-webhooks.ts";

const bench = deliveryBench();

describe("a receiver that fails", () => {
  test("gets the same delivery again, signed anew, until it takes it", async () => {
    const { secret } = await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave((response) => response.writeHead(bench.receiver.received.length < 3 ? 500 : 204).end());
    bench.deliver();
    await bench.run();
    const deliveries = await untilDeliveries(bench.host, settled);
    expect(deliveries).toMatchObject([{ state: "delivered", attempts: 3, lastStatus: 204 }]);
    const { received } = bench.receiver;
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers["x-openwop-delivery-id"])).size).toBe(1);
    for (const one of received) expect(one.headers["x-openwop-signature"]).toBe(expectedSignature(secret, one));
    expect(await bench.health()).toMatchObject({ state: "active", failures: 0 });
  });

  test("has its deliveries dead after the last attempt, and again after they were redelivered", async () => {
    const { webhookId } = await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave(503);
    bench.deliver({ attemptsMax: 3 });
    await bench.run();
    await bench.run();
    const dead = await untilDeliveries(bench.host, settled);
    expect(dead).toMatchObject([
      { state: "dead", attempts: 3, lastStatus: 503 },
      { state: "dead", attempts: 3, lastStatus: 503 },
    ]);
    expect(bench.receiver.received).toHaveLength(6);

    bench.receiver.behave(200);
    const [one] = dead;
    const deliveryId = one?.deliveryId ?? "";
    expect(await redeliver(bench.host, ADA, webhookId, { deliveryId })).toEqual({ webhookId, redelivered: 1 });
    await untilDeliveries(bench.host, (all) => all.some(({ state }) => state === "delivered"));
    expect(bench.receiver.received.at(-1)?.headers["x-openwop-delivery-id"]).toBe(deliveryId);
    await expect(redeliver(bench.host, ADA, webhookId, { deliveryId })).rejects.toMatchObject({ code: "not_found" });
    expect(await redeliver(bench.host, ADA, webhookId, {})).toEqual({ webhookId, redelivered: 1 });
    await untilDeliveries(bench.host, (all) => all.every(({ state }) => state === "delivered"));
    expect(await redeliver(bench.host, ADA, webhookId, {})).toEqual({ webhookId, redelivered: 0 });
    expect(await bench.audited()).toContain("webhook.redelivery_requested");
  });

  test("is not followed to where it redirects", async () => {
    const elsewhere = await WebhookReceiver.start();
    bench.receiver.behave((response) => response.writeHead(307, { location: elsewhere.url() }).end());
    await webhookTo(bench.host, bench.receiver.url());
    bench.deliver({ attemptsMax: 1 });
    await bench.run();
    expect(await untilDeliveries(bench.host, settled)).toMatchObject([{ state: "dead", lastStatus: 307 }]);
    expect(elsewhere.connections).toBe(0);
    await elsewhere.close();
  });

  test("is cut off when it takes too long", async () => {
    bench.outbound = { timeoutMs: 50 };
    bench.receiver.behave(() => {});
    await webhookTo(bench.host, bench.receiver.url());
    bench.deliver({ attemptsMax: 1 });
    await bench.run();
    const deliveries = await untilDeliveries(bench.host, settled);
    expect(deliveries).toMatchObject([{ state: "dead", lastError: "no answer within 50 ms" }]);
  });

  test("is left alone after four failures in a row", async () => {
    await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave(500);
    for (let i = 0; i < 40; i++) await bench.run();
    const deliveries = bench.deliver({ circuitFirstMs: 600_000, circuitMaxMs: 600_000 });
    await expect.poll(bench.health).toMatchObject({ state: "open-circuit", circuitUntil: expect.any(String) });
    await expect.poll(() => deliveries.stats().inHand).toBe(0);
    // Those that were under way together when the first one failed, and no more.
    const tried = bench.receiver.received.length;
    expect(tried).toBeGreaterThanOrEqual(4);
    expect(tried).toBeLessThanOrEqual(11);
    await bench.run();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(bench.receiver.received).toHaveLength(tried);
    expect((await untilDeliveries(bench.host, () => true)).every(({ state }) => state === "pending")).toBe(true);
  });

  test("is sent a single delivery ahead of the rest when its circuit closes", async () => {
    await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave(500);
    await bench.run();
    const first = bench.deliver({ attemptsMax: 100, circuitFirstMs: 1, circuitMaxMs: 1 });
    await bench.receiver.got(6);
    await first.stop(1000);
    for (let i = 0; i < 10; i++) await bench.run();
    let atOnce = 0;
    let most = 0;
    bench.receiver.behave((response) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      setTimeout(() => {
        atOnce -= 1;
        response.writeHead(500).end();
      }, 5);
    });
    const before = bench.receiver.received.length;
    bench.deliver({ attemptsMax: 100, circuitFirstMs: 1, circuitMaxMs: 1 });
    await bench.receiver.got(before + 10);
    expect(most).toBe(1);
  });

  test("with 410 is disabled at once: what waited is dead, nothing new is kept for it, and the log says so", async () => {
    const { webhookId } = await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave(410);
    for (let i = 0; i < 30; i++) await bench.run();
    bench.deliver();
    const deliveries = await untilDeliveries(bench.host, settled);
    expect(deliveries.every(({ state }) => state === "dead")).toBe(true);
    expect(bench.receiver.received.length).toBeLessThan(30);
    expect(await bench.health()).toMatchObject({ state: "disabled", disabledAt: expect.any(String) });
    await expect.poll(bench.audited).toContain("webhook.disabled");
    await bench.run();
    expect(await untilDeliveries(bench.host, () => true)).toHaveLength(30);
    await expect(redeliver(bench.host, ADA, webhookId, {})).rejects.toMatchObject({ code: "validation_error" });

    bench.receiver.behave(200);
    await enableWebhook(bench.host, { caller: ADA, webhookId, record: () => undefined });
    expect(await bench.health()).toMatchObject({ state: "active", failures: 0 });
    await bench.run();
    await untilDeliveries(bench.host, (all) => all.some(({ state }) => state === "delivered"));
    expect(await redeliver(bench.host, ADA, webhookId, {})).toMatchObject({ redelivered: 30 });
    await untilDeliveries(bench.host, (all) => all.every(({ state }) => state === "delivered"));
  });

  test("for too long is disabled", async () => {
    await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave(500);
    await bench.run();
    bench.deliver({ attemptsMax: 100, disableAfter: 6, disableAfterMs: 1 });
    expect(await untilDeliveries(bench.host, settled)).toMatchObject([{ state: "dead", lastStatus: 500 }]);
    expect(await bench.health()).toMatchObject({ state: "disabled" });
    await expect.poll(bench.audited).toContain("webhook.disabled");
  });

  test("is no matter to others, nor is one that is slow", async () => {
    const slow = await WebhookReceiver.start();
    slow.behave(() => {});
    await webhookTo(bench.host, slow.url());
    for (let i = 0; i < 100; i++) await bench.run();
    await webhookTo(bench.host, bench.receiver.url());
    await bench.run();
    // Slow beyond the patience of this test.
    bench.outbound = { timeoutMs: 600_000 };
    bench.deliver({ inHandMax: 40, leaseMs: 6_000_000 });
    expect(await bench.receiver.got(1)).toHaveLength(1);
    expect(slow.received.length).toBeLessThanOrEqual(8);
    await slow.close();
  });
});
