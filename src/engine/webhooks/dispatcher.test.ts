import { describe, expect, test, vi } from "vitest";
import { settled, untilDeliveries, webhookTo } from "../../testing/deliveries.ts";
import { deliveryBench } from "../../testing/delivery-bench.ts";
import { ADA, begin, logOf, register, until } from "../../testing/engine.ts";
import { TEST_CERTIFICATE } from "../../testing/test-certificate.ts";
import { expectedSignature, type Received, WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { ended } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { deleteWebhook } from "./manage-webhooks.ts";

const bench = deliveryBench();

describe("a delivery", () => {
  test("is signed, and carries the event byte for byte as every other surface serves it", async () => {
    const { webhookId, secret } = await webhookTo(bench.host, bench.receiver.url("/in?a=b"));
    bench.deliver();
    const runId = await bench.run();
    const [received] = (await bench.receiver.got(1)) as [Received];
    const [event] = await bench.host.store.readEvents(runId, 0, 1);
    expect(received.path).toBe("/in?a=b");
    expect(received.body).toBe(`{"type":"run.started","runId":"${runId}","event":${event?.body}}`);
    expect(received.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "assay/test",
      "x-openwop-webhook-id": webhookId,
      "x-openwop-event-type": "run.started",
      "x-openwop-timestamp": expect.stringMatching(/^\d{10}$/),
      "x-openwop-signature": expectedSignature(secret, received),
      "x-openwop-signature-algorithm": "v1",
      "x-openwop-delivery-id": expect.stringMatching(/^dlv-/),
    });
    const deliveries = await untilDeliveries(bench.host, settled);
    expect(deliveries).toMatchObject([{ state: "delivered", attempts: 1, lastStatus: 200, runId, sequence: 0 }]);
  });

  test("names the workspace of the run, where it has one", async () => {
    const eve = { ...ADA, workspace: "east" };
    await webhookTo(bench.host, bench.receiver.url(), {}, eve);
    bench.deliver();
    await begin(bench.host, { workflowId: "noop" }, eve);
    const [received] = await bench.receiver.got(1);
    expect(JSON.parse(received?.body ?? "")).toMatchObject({ workspaceId: "east", event: { type: "run.started" } });
  });

  test("shows no sensitive value", async () => {
    const variables = [{ name: "pin", type: "string", sensitive: true }];
    await register(bench.host, workflow({ id: "secret", nodes: { a: "core.noop" }, variables } as never));
    await webhookTo(bench.host, bench.receiver.url(), { events: ["*"] });
    bench.work();
    bench.deliver();
    const runId = await begin(bench.host, { workflowId: "secret", inputs: { pin: "8341-4711" } });
    await until(bench.host.store, runId, ended);
    await bench.receiver.got((await logOf(bench.host.store, runId)).length);
    expect(JSON.stringify(bench.receiver.received)).not.toContain("8341-4711");
    expect(JSON.stringify(bench.receiver.received)).toContain("[REDACTED]");
  });

  test("of every event of a run arrives, once each", async () => {
    await webhookTo(bench.host, bench.receiver.url(), { events: ["*"] });
    bench.work();
    bench.deliver();
    const runId = await bench.run();
    await until(bench.host.store, runId, ended);
    const log = await logOf(bench.host.store, runId);
    await untilDeliveries(bench.host, (all) => all.length === log.length && settled(all));
    const sequences = bench.receiver.received.map(({ body }) => JSON.parse(body).event.sequence as number);
    expect(sequences.sort((a, b) => a - b)).toEqual(log.map(({ sequence }) => sequence));
  });

  test("shares the text of its event, which may be long, with other webhooks that get it at the same time", async () => {
    const open: (() => void)[] = [];
    bench.receiver.behave((response) => void open.push(() => response.writeHead(200).end()));
    for (let i = 0; i < 20; i++) await webhookTo(bench.host, bench.receiver.url(`/${i}`));
    await bench.run();
    const reads = vi.spyOn(bench.host.store, "readEvents");
    bench.deliver();
    const received = await bench.receiver.got(20);
    for (const answer of open) answer();
    await untilDeliveries(bench.host, settled);
    expect(reads).toHaveBeenCalledTimes(1);
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers["x-openwop-signature"])).size).toBe(20);
  });

  test("goes over TLS to the address its name resolves to", async () => {
    const tls = await WebhookReceiver.start("https");
    const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    bench.outbound = { resolve, ca: TEST_CERTIFICATE };
    await webhookTo(bench.host, tls.url("/", "hooks.example.com"));
    bench.deliver();
    await bench.run();
    expect(await tls.got(1)).toMatchObject([{ serverName: "hooks.example.com" }]);
    await tls.close();
  });
});

describe("a name that was public when it was registered", () => {
  test("and is private when it is delivered to is not connected to", async () => {
    const tls = await WebhookReceiver.start("https");
    let asked = 0;
    const resolve = async () => [{ address: asked++ === 0 ? "93.184.215.14" : "127.0.0.1", family: 4 }];
    bench.outbound = { allowPrivate: false, resolve, ca: TEST_CERTIFICATE };
    await webhookTo(bench.host, tls.url("/", "hooks.example.com"));
    bench.deliver({ attemptsMax: 2 });
    await bench.run();
    const deliveries = await untilDeliveries(bench.host, settled);
    expect(deliveries).toMatchObject([
      { state: "dead", attempts: 2, lastError: expect.stringContaining("not public") },
    ]);
    expect(tls.connections).toBe(0);
    await tls.close();
  });
});

describe("a webhook that is deleted", () => {
  test("takes with it what was not delivered, also what is under way", async () => {
    const { webhookId } = await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave(() => {});
    await bench.run();
    const deliveries = bench.deliver();
    await bench.receiver.got(1);
    await bench.run();
    await deleteWebhook(bench.host, { caller: ADA, webhookId, record: () => undefined });
    expect(await untilDeliveries(bench.host, () => true)).toEqual([]);
    await deliveries.stop(0);
    expect(await untilDeliveries(bench.host, () => true)).toEqual([]);
  });
});

describe("a webhook that is deleted while its deliveries wait in this process", () => {
  test("gets none of them any more", async () => {
    const { webhookId } = await webhookTo(bench.host, bench.receiver.url());
    const open: (() => void)[] = [];
    bench.receiver.behave((response) => void open.push(() => response.writeHead(200).end()));
    for (let i = 0; i < 20; i++) await bench.run();
    const deliveries = bench.deliver();
    await bench.receiver.got(8);
    await deleteWebhook(bench.host, { caller: ADA, webhookId, record: () => undefined });
    for (const answer of open) answer();
    await expect.poll(() => deliveries.stats().inHand).toBe(0);
    expect(bench.receiver.received).toHaveLength(8);
  });
});

describe("a process that stops", () => {
  test("lets what is under way end within the grace period, and hands back the rest", async () => {
    await webhookTo(bench.host, bench.receiver.url());
    let release = () => {};
    bench.receiver.behave((response) => {
      const before = release;
      release = () => {
        before();
        response.writeHead(200).end();
      };
    });
    for (let i = 0; i < 20; i++) await bench.run();
    const deliveries = bench.deliver();
    await bench.receiver.got(8);
    const stopped = deliveries.stop(60_000);
    release();
    await stopped;
    const states = (await untilDeliveries(bench.host, () => true)).map(({ state }) => state);
    expect(states.filter((state) => state === "delivered")).toHaveLength(8);
    bench.receiver.behave(200);
    bench.deliver();
    const all = await untilDeliveries(bench.host, settled);
    expect(all.every(({ state, attempts }) => state === "delivered" && attempts === 1)).toBe(true);
  });

  test("hands back even what is under way when there is no time: another takes it at once", async () => {
    await webhookTo(bench.host, bench.receiver.url());
    bench.receiver.behave(() => {});
    await bench.run();
    const deliveries = bench.deliver();
    await bench.receiver.got(1);
    await deliveries.stop(0);
    expect(await untilDeliveries(bench.host, () => true)).toMatchObject([{ state: "pending", attempts: 0 }]);
    expect(await bench.health()).toMatchObject({ failures: 0 });
    bench.receiver.behave(200);
    bench.deliver();
    expect(await untilDeliveries(bench.host, settled)).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });
});
