import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import { FIRST_ROUND } from "../../store/port/reviews.ts";
import type { Store } from "../../store/port/store.ts";
import {
  artifactWrite,
  auditDraft,
  effectClaim,
  idempotencyClaim,
  idempotencyOutcome,
  NOW,
  newKey,
  newTenant,
  runWrite,
  startedRun,
  workflowWrite,
} from "../builders.ts";
import { externalEvent, newDelivery, newWebhook, openGate } from "../gate-builders.ts";
import { verifiedChain } from "./audit.ts";
import { JUDGMENT_CALLS } from "./judgment-calls.ts";
import { accept, eventsOf, type Subject, upTo } from "./subject.ts";

const visible = { tenant: "t" };
const claim = { owner: "w", nowMs: NOW, untilMs: NOW, limit: 1, engineVersion: ENGINE_VERSION };

/** Every method that asks the database. */
const CALLS: Readonly<Record<Exclude<keyof Store, "onChange" | "close">, (store: Store) => Promise<unknown>>> = {
  commit: (store) => store.commit({ tenant: "t", audit: [auditDraft()] }),
  ping: (store) => store.ping(),
  readRun: (store) => store.readRun(visible, "run-1"),
  readEvents: (store) => store.readEvents("run-1", 0, 1),
  logBytes: (store) => store.logBytes("run-1", 1),
  listRuns: (store) => store.listRuns(visible, { limit: 1 }),
  stateBytes: (store) => store.stateBytes(visible, { limit: 1 }),
  runIdBeyond: (store) => store.runIdBeyond({ tenant: "t" }, { limit: 1 }),
  allRunIds: (store) => store.allRunIds("", 1),
  tenantOf: (store) => store.tenantOf("run-1"),
  runRow: (store) => store.runRow("run-1"),
  countRuns: (store) => store.countRuns(),
  claimRuns: (store) => store.claimRuns(claim),
  dueTenants: (store) => store.dueTenants({ ...claim, after: "" }),
  activeDescendants: (store) => store.activeDescendants(visible, { rootRunId: "run-1", after: "", limit: 1 }),
  runOutlines: (store) => store.runOutlines("t", ["run-1"]),
  readHead: (store) => store.readHead(visible, "run-1"),
  newestQueuedMs: (store) => store.newestQueuedMs(),
  runsAhead: (store) => store.runsAhead({ ofMs: NOW, after: "", limit: 1 }),
  dueBeyond: (store) => store.dueBeyond({ nowMs: NOW, engineVersion: 1, aboveBytes: 1, limit: 1 }),
  countedRuns: (store) => store.countedRuns(),
  renewLeases: (store) => store.renewLeases("w", ["run-1"], NOW),
  nextWakeAtMs: (store) => store.nextWakeAtMs(NOW, ENGINE_VERSION),
  readWorkflow: (store) => store.readWorkflow("t", "wf"),
  readWorkflowHash: (store) => store.readWorkflowHash("t", "wf"),
  readWorkflowByHash: (store) => store.readWorkflowByHash("hash"),
  listWorkflows: (store) => store.listWorkflows("t", "", 1),
  listWorkflowHeads: (store) => store.listWorkflowHeads("t", "", 1),
  findKey: (store) => store.findKey("hash"),
  listKeys: (store) => store.listKeys(visible),
  keysOf: (store) => store.keysOf(visible, ["pat"]),
  keysByPrincipal: (store) => store.keysByPrincipal(visible, "", 10),
  countWorkingKeys: (store) => store.countWorkingKeys("t", NOW),
  hasOtherOwner: (store) => store.hasOtherOwner("t", "pat", NOW),
  bindingsOf: (store) => store.bindingsOf("t", ["pat"]),
  readKey: (store) => store.readKey(visible, "key-1"),
  customRoles: (store) => store.customRoles("t", undefined),
  ownRoles: (store) => store.ownRoles("t", undefined),
  hasKeys: (store) => store.hasKeys(),
  membershipOf: (store) => store.membershipOf(visible, "pat"),
  membershipAnywhere: (store) => store.membershipAnywhere("t", "pat"),
  openInterrupts: (store) => store.openInterrupts(visible, { limit: 1, nowMs: NOW }),
  interruptsOfRuns: (store) => store.interruptsOfRuns(visible, ["run-1"]),
  readInterrupt: (store) => store.readInterrupt(visible, "int-1"),
  interruptsByCorrelation: (store) =>
    store.interruptsByCorrelation(visible, { correlationId: "c", eventType: "e", open: true, limit: 1 }),
  interruptRows: (store) => store.interruptRows("run-1"),
  gateSummary: (store) => store.gateSummary(visible, {}),
  readExternalEvent: (store) => store.readExternalEvent(externalEvent("t")),
  countHeldEvents: (store) => store.countHeldEvents("t", 1),
  heldEvents: (store) => store.heldEvents({ nowMs: NOW, limit: 1 }),
  listWebhooks: (store) => store.listWebhooks(visible),
  readWebhook: (store) => store.readWebhook(visible, "hook-1"),
  listDeliveries: (store) => store.listDeliveries(visible, { limit: 1 }),
  claimDeliveries: (store) => store.claimDeliveries({ owner: "h", nowMs: NOW, untilMs: NOW, limit: 1 }),
  finishAttempt: (store) =>
    store.finishAttempt({ deliveryId: "dlv-1", owner: "h", state: "dead", attempts: 1, atMs: NOW }),
  nextDeliveryAtMs: (store) => store.nextDeliveryAtMs(NOW),
  redeliver: (store) => store.redeliver(visible, { webhookId: "hook-1" }, NOW),
  readAudit: (store) => store.readAudit("t", 1, 1, 1),
  auditHead: (store) => store.auditHead("t"),
  readCheckpoints: (store) => store.readCheckpoints("t", 0, 1),
  tenantsWithCheckpointsAfter: (store) => store.tenantsWithCheckpointsAfter("name"),
  auditBacklog: (store) => store.auditBacklog(),
  putCheckpoint: (store) =>
    store.putCheckpoint("t", {
      checkpoint: "c",
      atSequence: 1,
      prevSequence: 0,
      atMs: 0,
      merkleRoot: "r",
      signature: "s",
    }),
  readIdempotency: (store) => store.readIdempotency({ tenant: "t", operation: "o", key: "k" }, NOW),
  claimIdempotency: (store) => store.claimIdempotency(idempotencyClaim("t")),
  releaseIdempotency: (store) => store.releaseIdempotency({ tenant: "t", operation: "o", key: "k" }, "w"),
  readEffect: (store) => store.readEffect("e"),
  readArtifact: (store) => store.readArtifact(visible, "run-1", "a"),
  hostSecret: (store) => store.hostSecret("name", () => "value"),
  purge: (store) => store.purge(NOW),
  readTape: (store) => store.readTape(visible, "run-1"),
  listTapes: (store) => store.listTapes(visible, { limit: 1 }),
  readSidecar: (store) => store.readSidecar(visible, "run-1"),
  bodiesHere: (store) => store.bodiesHere(visible, "run-1"),
  readDocument: (store) => store.readDocument({ tenant: "t", kind: "suite", key: "a" }),
  readDocuments: (store) => store.readDocuments("t", "suite", ["a"]),
  documentSizes: (store) => store.documentSizes("t", "suite", { limit: 1 }),
  listDocuments: (store) => store.listDocuments("t", "suite", { limit: 1 }),
  readReview: (store) => store.readReview(visible, "ses_1"),
  listReviews: (store) => store.listReviews(visible, { limit: 1 }),
  latestReview: (store) => store.latestReview(visible, "ada"),
  reviewRounds: (store) => store.reviewRounds("t", ["ses_1"], FIRST_ROUND, 1),
  claimReview: (store) => store.claimReview(visible, { sessionId: "ses_1", owner: "w", nowMs: NOW, untilMs: NOW }),
  renewReview: (store) => store.renewReview("ses_1", "w", NOW),
  releaseReview: (store) => store.releaseReview("ses_1", "w"),
  ...JUDGMENT_CALLS,
};

async function codeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return ["answered", await call()];
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
}

export function lifetime(subject: Subject): void {
  describe("an open store", () => {
    test("answers every call", async () => {
      for (const call of Object.values(CALLS)) await call(subject.store);
    });
  });

  describe("a closed store", () => {
    test("is unavailable, whatever it is asked", async () => {
      const { store } = subject;
      await store.close();
      const codes: Record<string, unknown> = {};
      for (const [name, call] of Object.entries(CALLS)) codes[name] = await codeOf(() => call(store));
      expect(codes).toEqual(Object.fromEntries(Object.keys(CALLS).map((name) => [name, "unavailable"])));
    });

    test("can be closed again", async () => {
      await subject.store.close();
      await subject.store.close();
    });

    test("has finished the commits that were under way", async () => {
      const { store, reopen } = subject;
      const tenant = newTenant();
      const commits = upTo(20).map(() => store.commit({ tenant, runs: [runWrite(startedRun({ tenant }))] }));
      await store.close();
      expect(await Promise.all(commits)).toEqual(commits.map(() => ({ ok: true })));
      if (reopen) expect(await (await reopen()).listRuns({ tenant }, { limit: 100 })).toHaveLength(20);
    });
  });

  describe("a store opened again", () => {
    test("has everything that was acknowledged", async ({ skip }) => {
      const { store, reopen } = subject;
      if (!reopen) return skip("nothing of this store outlives its process");
      const tenant = newTenant();
      const started = startedRun({ tenant });
      const { runId } = started.run;
      const key = newKey(tenant);
      const workflow = workflowWrite(tenant, "wf-a");
      const outcome = idempotencyOutcome(tenant);
      const gate = openGate({ tenant });
      const webhook = newWebhook(tenant);
      const event = externalEvent(tenant);
      await accept(store, {
        tenant,
        runs: [runWrite(started), runWrite(gate)],
        audit: [auditDraft(), auditDraft()],
        idempotency: outcome,
        effectClaims: [effectClaim(runId)],
        workflows: [workflow],
        artifacts: [artifactWrite(runId)],
        keys: [{ type: "put", key }],
        roles: [{ tenant, principal: "pat", roles: ["owner"], groups: ["release"] }],
        externalEvents: [{ type: "put", event, nowMs: NOW }],
        webhooks: [{ type: "put", webhook }],
        deliveries: [newDelivery({ webhookId: webhook.webhookId })],
      });
      const secret = await store.hostSecret("cursor", () => "first");
      await store.close();

      const again = await reopen();
      expect(await again.readRun({ tenant }, runId)).toEqual(started.run);
      expect(await eventsOf(again, runId)).toMatchObject([{ runId, sequence: 0 }]);
      expect(await verifiedChain(again, tenant)).toHaveLength(2);
      expect(await again.readIdempotency(outcome, NOW)).toMatchObject({ state: "completed" });
      expect(await again.readEffect(effectClaim(runId).effectId)).toMatchObject({ state: "claimed" });
      expect((await again.readWorkflow(tenant, "wf-a"))?.definition).toBe(workflow.definition);
      expect((await again.readArtifact({ tenant }, runId, "report"))?.body).toHaveLength(256);
      expect(await again.findKey(key.hash)).toMatchObject({ roles: ["owner"], groups: ["release"] });
      expect(await again.readInterrupt({ tenant }, gate.interruptId)).toMatchObject({ status: "open" });
      expect(await again.readExternalEvent(event)).toEqual(event);
      expect(await again.listWebhooks({ tenant })).toEqual([webhook]);
      expect(await again.listDeliveries({ tenant }, { limit: 9 })).toHaveLength(1);
      expect(await again.hostSecret("cursor", () => "second")).toBe(secret);
      // And goes on from there.
      await accept(again, { tenant, audit: [auditDraft()] });
      expect(await verifiedChain(again, tenant)).toHaveLength(3);
    });
  });
}
