import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NOW } from "../../testing/builders.ts";
import { migrate } from "../sql/migrate.ts";
import { sharedStore } from "../sql/shared-store.ts";
import { kyselyOver } from "./kysely-dialect.ts";
import { IN_MEMORY, openForWriting, type SqliteDatabase } from "./open-database.ts";

let db: SqliteDatabase;
beforeEach(async () => {
  db = await openForWriting(IN_MEMORY);
  await migrate(kyselyOver(db));
});
afterEach(() => db.close());

type Shared = ReturnType<typeof sharedStore>;

/** How SQLite goes about everything that a call asks of it. */
async function planOf(call: (store: Shared) => Promise<unknown>): Promise<string> {
  const plans: string[] = [];
  const prepare = (sql: string) => {
    const steps = db.prepare(`explain query plan ${sql}`).all() as { detail: string }[];
    plans.push(...steps.map(({ detail }) => detail));
    return db.prepare(sql);
  };
  const watched = kyselyOver({ prepare, exec: (sql) => db.exec(sql), close: () => {} });
  await call(sharedStore(watched, watched));
  return plans.join("\n");
}

const visible = { tenant: "t", workspace: "w" };

describe("a database that has grown large", () => {
  test.each<[string, (store: Shared) => Promise<unknown>, string]>([
    [
      "the inbox",
      (store) => store.openInterrupts(visible, { limit: 9, nowMs: NOW, after: "int-1" }),
      "interrupts_open",
    ],
    ["the interrupts of runs", (store) => store.interruptsOfRuns(visible, ["run-1", "run-2"]), "interrupts_by_run"],
    [
      "those of a correlation",
      (store) => store.interruptsByCorrelation(visible, { correlationId: "c", eventType: "e", open: false, limit: 9 }),
      "interrupts_by_correlation",
    ],
    ["a summary of gates", (store) => store.gateSummary(visible, { fromMs: NOW }), "COVERING INDEX interrupts_by_time"],
    [
      "a summary by principal",
      (store) => store.gateSummary(visible, { fromMs: NOW, groupBy: "principal" }),
      "interrupt_votes_by_time",
    ],
    [
      "held events",
      (store) => store.heldEvents({ tenant: "t", correlationId: "c", nowMs: NOW, limit: 9 }),
      "external_events_held",
    ],
    ["a sweep of held events", (store) => store.heldEvents({ nowMs: NOW, limit: 9 }), "external_events_held"],
    [
      "a claim of deliveries",
      (store) => store.claimDeliveries({ owner: "h", nowMs: NOW, untilMs: NOW, limit: 9 }),
      "deliveries_pending",
    ],
    [
      "the deliveries of a webhook",
      (store) => store.listDeliveries(visible, { webhookId: "hook-1", limit: 9, before: "dlv-1" }),
      "deliveries_by_webhook",
    ],
    [
      "the deliveries of a run",
      (store) => store.listDeliveries(visible, { runId: "r", limit: 9 }),
      "deliveries_by_run",
    ],
    ["all deliveries", (store) => store.listDeliveries(visible, { limit: 9, before: "dlv-1" }), "deliveries_by_tenant"],
    ["redelivering", (store) => store.redeliver(visible, { webhookId: "hook-1" }, NOW), "deliveries_by_webhook"],
    ["the webhooks of a tenant", (store) => store.listWebhooks(visible), "webhooks_by_tenant"],
  ])("answers for %s from an index", async (_, call, index) => {
    const plan = await planOf(call);
    expect(plan).toContain(index);
    expect(plan).not.toMatch(/SCAN (interrupts|interrupt_votes|gate|ballot|deliveries|webhooks)\b(?! USING)/);
  });

  test("finds the next delivery without looking at every one", async () => {
    const plan = await planOf((store) => store.nextDeliveryAtMs(NOW));
    for (const index of ["deliveries_pending", "deliveries_leased"]) expect(plan).toContain(index);
  });

  test("is purged by indexes", async () => {
    const plan = await planOf((store) => store.purge(NOW));
    for (const index of ["external_events_by_expiry", "deliveries_by_end", "deliveries_pending"]) {
      expect(plan).toContain(index);
    }
  });
});
