import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { deliveriesOn, settled, untilDeliveries, webhookTo } from "../../testing/deliveries.ts";
import { begin, engineOn, register } from "../../testing/engine.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { workflow } from "../../testing/workflow.ts";

let receiver: WebhookReceiver;
let database: TestDatabase;
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  database = await createDatabase();
});
afterEach(async () => {
  await receiver.close();
  await database.drop();
});

const NOOP = workflow({ id: "noop", nodes: { a: "core.noop" } });
const idsOf = ({ received }: WebhookReceiver) => received.map(({ headers }) => headers["x-openwop-delivery-id"]);

/** How to open one and the same database again and again. */
const KINDS: readonly [string, () => () => Promise<Store>][] = [
  [
    "SQLite",
    () => {
      const path = join(tempDir(), "assay.db");
      return () => openSqliteStore({ path });
    },
  ],
  ["PostgreSQL", () => () => openPostgresStore({ url: database.url })],
];

describe.each(KINDS)("a process that ends between a commit and its delivery, on %s", (_, opener) => {
  test("loses nothing: the next one delivers it", async () => {
    const open = opener();
    const first = await open();
    const host = engineOn(first);
    await register(host, NOOP);
    await webhookTo(host, receiver.url());
    const runIds: string[] = [];
    for (let i = 0; i < 10; i++) runIds.push(await begin(host, { workflowId: "noop" }));
    await first.close();

    const second = engineOn(await open());
    const deliveries = deliveriesOn(second);
    await untilDeliveries(second, settled);
    const delivered = receiver.received.map(({ body }) => JSON.parse(body).runId as string);
    expect(delivered.sort()).toEqual(runIds.sort());
    await deliveries.stop(1000);
    await second.store.close();
  });

  test("while it delivers has it delivered by the next one, under the same id", async () => {
    const open = opener();
    const first = await open();
    const engine = engineOn(first);
    const host = { ...engine, outbound: { ...engine.outbound, timeoutMs: 200 } };
    await register(host, NOOP);
    await webhookTo(host, receiver.url());
    await begin(host, { workflowId: "noop" });
    receiver.behave(() => {});
    // Its database is gone in the middle of the attempt, as if it had been killed.
    const killed = deliveriesOn(host, { leaseMs: 400, onError: () => {} });
    await receiver.got(1);
    await first.close();
    const stopped = killed.stop(0);

    receiver.behave(200);
    const second = engineOn(await open());
    const deliveries = deliveriesOn(second);
    expect(await untilDeliveries(second, settled)).toMatchObject([{ state: "delivered", attempts: 1 }]);
    expect(new Set(idsOf(receiver)).size).toBe(1);
    await stopped;
    await deliveries.stop(1000);
    await second.store.close();
  });
});

describe("several processes that deliver from one PostgreSQL", () => {
  test("deliver everything once between them", async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore({ url: database.url })));
    const hosts = stores.map((store) => engineOn(store));
    const [host] = hosts as [ReturnType<typeof engineOn>];
    await register(host, NOOP);
    await webhookTo(host, receiver.url());
    const running = hosts.map((each) => deliveriesOn(each));
    await Promise.all(Array.from({ length: 60 }, (_, i) => begin(hosts[i % 3] ?? host, { workflowId: "noop" })));
    // The second and third host learned of the webhook after it was made; from then on nothing is missed.
    const before = (await untilDeliveries(host, settled)).length;
    await Promise.all(Array.from({ length: 60 }, (_, i) => begin(hosts[i % 3] ?? host, { workflowId: "noop" })));
    const all = await untilDeliveries(host, (found) => found.length === before + 60 && settled(found));
    expect(all.every(({ state, attempts }) => state === "delivered" && attempts === 1)).toBe(true);
    expect(idsOf(receiver).sort()).toEqual(all.map(({ deliveryId }) => deliveryId).sort());
    await Promise.all(running.map((each) => each.stop(1000)));
    await Promise.all(stores.map((store) => store.close()));
  });
});
