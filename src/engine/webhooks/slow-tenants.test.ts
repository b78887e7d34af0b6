import { expect, test } from "vitest";
import { webhookTo } from "../../testing/deliveries.ts";
import { deliveryBench } from "../../testing/delivery-bench.ts";
import { ADA, begin, register } from "../../testing/engine.ts";
import { WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { workflow } from "../../testing/workflow.ts";

const EVE = { ...ADA, tenant: "t2", principal: "eve" };
const bench = deliveryBench();

test("receivers of one tenant that are slow, however many, leave room for deliveries of another", async () => {
  const slow = await WebhookReceiver.start();
  slow.behave(() => {});
  for (let i = 0; i < 30; i++) await webhookTo(bench.host, slow.url(`/${i}`));
  for (let i = 0; i < 20; i++) await bench.run();
  await register(bench.host, workflow({ id: "noop", nodes: { a: "core.noop" } }), EVE);
  await webhookTo(bench.host, bench.receiver.url(), {}, EVE);
  await begin(bench.host, { workflowId: "noop" }, EVE);
  // Slow beyond the patience of this test.
  bench.outbound = { timeoutMs: 600_000 };
  const deliveries = bench.deliver({ inHandMax: 40, leaseMs: 6_000_000 });
  expect(await bench.receiver.got(1)).toHaveLength(1);
  await expect.poll(() => deliveries.stats().inHand).toBe(30);
  await slow.close();
});

test("callbacks of one tenant to many places that are slow leave room for deliveries of another", async () => {
  const slow = await WebhookReceiver.start();
  slow.behave(() => {});
  await register(bench.host, workflow({ id: "gate", nodes: { gate: { typeId: "core.approvalGate", config: {} } } }));
  const { port } = new URL(slow.url());
  bench.outbound = { resolve: async () => [{ address: "127.0.0.1", family: 4 }], timeoutMs: 600_000 };
  bench.work();
  for (let i = 1; i <= 100; i++) {
    await begin(bench.host, { workflowId: "gate", callbackUrl: `http://place-${i}.example.com:${port}/` });
  }
  await expect
    .poll(async () => (await bench.host.store.listDeliveries({ tenant: "t1" }, { limit: 200 })).length)
    .toBe(100);
  await register(bench.host, workflow({ id: "noop", nodes: { a: "core.noop" } }), EVE);
  await webhookTo(bench.host, bench.receiver.url(), {}, EVE);
  await begin(bench.host, { workflowId: "noop" }, EVE);
  bench.deliver({ inHandMax: 40, leaseMs: 6_000_000 });
  expect(await bench.receiver.got(1)).toHaveLength(1);
  await slow.close();
});
