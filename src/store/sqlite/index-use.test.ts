import { describe, expect, test } from "vitest";
import { NOW } from "../../testing/builders.ts";
import { queryPlans, type SharedReads } from "../../testing/query-plans.ts";
import { CLAIMS, RUN_DELETES } from "./statements.ts";

const { planOf, planOfText } = queryPlans();

const visible = { tenant: "t", workspace: "w" };

describe("a database that has grown large", () => {
  test.each<[string, (store: SharedReads) => Promise<unknown>, string]>([
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
    ["a count of held events", (store) => store.countHeldEvents("t", 9), "COVERING INDEX external_events_held"],
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
    ["review queues", (store) => store.listQueues(visible, { limit: 9, before: "que-1" }), "queues_by_tenant"],
    [
      "the items of a queue",
      (store) => store.listQueueItems(visible, { queueId: "que-1", limit: 9, after: { position: 1, itemId: "itm-1" } }),
      "queue_items_in_order",
    ],
    [
      "the items in a state",
      (store) => store.listQueueItems(visible, { queueId: "que-1", limit: 9, state: "done" }),
      "queue_items_by_state",
    ],
    [
      "the next free item",
      (store) => store.freeQueueItems(visible, { queueId: "que-1", reviewer: "ada", nowMs: NOW, limit: 1 }),
      "queue_items_by_state",
    ],
    ["the progress of reviewers", (store) => store.queueProgress("que-1"), "COVERING INDEX queue_reviews_by_reviewer"],
    ["a count of items", (store) => store.countQueueItems("que-1"), "COVERING INDEX queue_items_by_state"],
    [
      "the runs of a workspace",
      (store) => store.listRuns(visible, { limit: 9, before: "run-1", statesUpTo: 9 }),
      "runs_by_workspace (",
    ],
    [
      "the runs of a workspace in a status",
      (store) => store.listRuns(visible, { limit: 9, status: "running", statesUpTo: 9 }),
      "runs_by_workspace_status",
    ],
    [
      "the runs of a workflow in a workspace",
      (store) => store.listRuns(visible, { limit: 9, workflowId: "wf", statesUpTo: 9 }),
      "runs_by_workspace_workflow",
    ],
    [
      "the active runs of a family in a workspace",
      (store) => store.activeDescendants(visible, { rootRunId: "run-1", after: "", limit: 9, statesUpTo: 9 }),
      "runs_by_root",
    ],
    [
      "runs that ended",
      (store) => store.endedRuns(visible, { after: { endedAtMs: NOW, runId: "run-1" }, limit: 9, workflowId: "wf" }),
      "COVERING INDEX runs_ended",
    ],
    [
      "runs whose time is over",
      (store) => store.expiredRuns({ tenant: "t", workflowId: "wf", endedBeforeMs: NOW, limit: 9 }),
      "runs_by_workflow",
    ],
    [
      "tenants with due runs",
      (store) => store.dueTenants({ nowMs: NOW, engineVersion: 1, after: "", limit: 9 }),
      "runs_due_by_tenant",
    ],
    [
      "the descendants of a run",
      (store) => store.activeDescendants(visible, { rootRunId: "run-1", after: "run-0", limit: 9 }),
      "runs_by_root",
    ],
    ["the workflows of runs", (store) => store.runWorkflows(), "COVERING INDEX runs_by_workflow"],
  ])("answers for %s from an index", async (_, call, index) => {
    const plan = await planOf(call);
    expect(plan).toContain(index);
    expect(plan).not.toMatch(
      /SCAN (interrupts|interrupt_votes|gate|ballot|deliveries|webhooks|queues|queue_items|queue_reviews|runs)\b(?! USING)/,
    );
  });

  test("finds the next delivery without looking at every one", async () => {
    const plan = await planOf((store) => store.nextDeliveryAtMs(NOW));
    for (const index of ["deliveries_pending", "deliveries_leased"]) expect(plan).toContain(index);
  });

  test("finds the due runs of a tenant without looking at those of others", () => {
    expect(planOfText(CLAIMS.claimRunsOf)).toContain("runs_due_by_tenant (tenant=? AND wake_at");
    expect(planOfText(CLAIMS.claimRuns)).toContain("runs_due (wake_at");
  });

  test("loses a run without looking at others", () => {
    for (const [name, sql] of Object.entries(RUN_DELETES)) {
      expect(planOfText(sql, "run-1", "t"), name).not.toMatch(/^SCAN (?!named$)/m);
    }
  });

  test("is purged by indexes", async () => {
    const plan = await planOf((store) => store.purge(NOW));
    for (const index of ["external_events_by_expiry", "deliveries_by_end", "deliveries_pending"]) {
      expect(plan).toContain(index);
    }
  });
});
