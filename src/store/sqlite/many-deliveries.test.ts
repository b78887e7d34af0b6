import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { auditDraft, NOW, newTenant } from "../../testing/builders.ts";
import { newDelivery, newWebhook } from "../../testing/gate-builders.ts";
import { accept, upTo } from "../../testing/store-contract/subject.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { Store } from "../port/store.ts";
import { openSqliteStore } from "./sqlite-store.ts";

let store: Store;
beforeEach(async () => {
  store = await openSqliteStore({ path: join(tempDir(), "assay.db") });
});
afterEach(() => store.close());

const MANY = 4000;
const HOOK = newWebhook(newTenant());
const { tenant, webhookId } = HOOK;

/** A webhook with many deliveries, which was disabled by the last of them where they are to be dead. */
async function outbox(state: "pending" | "dead"): Promise<void> {
  const deliveries = upTo(MANY).map((n) => newDelivery({ webhookId, sequence: n, atMs: NOW + n }));
  await accept(store, { tenant, webhooks: [{ type: "put", webhook: HOOK }], deliveries });
  if (state === "dead") await disable();
}

async function disable(): Promise<void> {
  const [first] = await store.claimDeliveries({ owner: "host-1", nowMs: NOW, untilMs: NOW + 1000, limit: 1 });
  const { deliveryId = "" } = first ?? {};
  const webhook = { webhookId, failures: 1, disabledAtMs: NOW };
  await store.finishAttempt({ deliveryId, owner: "host-1", state: "dead", attempts: 1, atMs: NOW, webhook });
}

/** How many commits of somebody else were made until the work was done. */
async function othersDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const end = work.then(() => {
    isOver = true;
  });
  let others = 0;
  for (const other = newTenant(); !isOver; others++) {
    await accept(store, { tenant: other, audit: [auditDraft("another.thing")] });
  }
  await end;
  return others;
}

const inState = async (state: "pending" | "dead") =>
  (await store.listDeliveries({ tenant }, { webhookId, state, limit: MANY })).length;

test("a webhook with many deliveries is deleted in several transactions, with those of others in between", async () => {
  await outbox("pending");
  const deletion = accept(store, { tenant, webhooks: [{ type: "delete", webhookId }] });
  expect(await othersDuring(deletion)).toBeGreaterThan(6);
  expect(await inState("pending")).toBe(0);
});

test("many deliveries of a webhook that is disabled die in several transactions", async () => {
  await outbox("pending");
  expect(await othersDuring(disable())).toBeGreaterThan(6);
  expect(await inState("dead")).toBe(MANY);
});

test("many dead deliveries are due again in several transactions", async () => {
  await outbox("dead");
  const redelivery = store.redeliver({ tenant }, { webhookId }, NOW);
  expect(await othersDuring(redelivery)).toBeGreaterThan(6);
  expect(await redelivery).toBe(MANY);
  expect(await inState("pending")).toBe(MANY);
});
