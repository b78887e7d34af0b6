import { describe, expect, test } from "vitest";
import type { Store, Unit } from "../../store/port/store.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import {
  artifactWrite,
  auditDraft,
  effectClaim,
  idempotencyOutcome,
  NOW,
  newKey,
  newTenant,
  next,
  nodeStarted,
  runWrite,
  startedRun,
  workflowWrite,
} from "../builders.ts";
import { externalEvent, newDelivery, newWebhook, openGate } from "../gate-builders.ts";
import { accept, eventsOf, refused, type Subject, save, upTo } from "./subject.ts";

/** A unit that writes something of everything, and a look at what of it is there. */
function fullUnit(tenant: string) {
  const started = startedRun({ tenant });
  const { runId } = started.run;
  const key = newKey(tenant);
  const workflow = workflowWrite(tenant, "wf-full", runId);
  const idempotency = idempotencyOutcome(tenant, { key: runId });
  const effect = effectClaim(runId);
  const gate = openGate({ tenant });
  const event = externalEvent(tenant, { eventId: runId });
  const webhook = newWebhook(tenant);
  const delivery = newDelivery({ webhookId: webhook.webhookId, runId });
  const unit: Unit = {
    tenant,
    runs: [runWrite(started), runWrite(gate)],
    audit: [auditDraft()],
    idempotency,
    effectClaims: [effect],
    workflows: [workflow],
    artifacts: [artifactWrite(runId)],
    keys: [{ type: "put", key }],
    roles: [{ tenant, principal: "pat", roles: ["owner"] }],
    roleDefinitions: [{ type: "put", role: "auditor", scopes: ["audit:read"] }],
    externalEvents: [{ type: "put", event, nowMs: NOW }],
    webhooks: [{ type: "put", webhook }],
    deliveries: [delivery],
  };
  const traces = async (store: Store) => ({
    run: (await store.readRun({ tenant }, runId)) !== undefined,
    row: (await store.runRow(runId)) !== undefined,
    events: (await eventsOf(store, runId)).length,
    audit: (await store.readAudit(tenant, 1, 100, 100)).length,
    head: (await store.auditHead(tenant))?.seq ?? 0,
    idempotency: (await store.readIdempotency(idempotency, NOW)) !== undefined,
    effect: (await store.readEffect(effect.effectId)) !== undefined,
    workflow: (await store.readWorkflow(tenant, workflow.workflowId)) !== undefined,
    definition: (await store.readWorkflowByHash(workflow.hash)) !== undefined,
    artifact: (await store.readArtifact({ tenant }, runId, "report")) !== undefined,
    key: (await store.findKey(key.hash)) !== undefined,
    roles: (await store.listKeys({ tenant })).flatMap((found) => found.roles).length,
    definitions: Object.keys(await store.customRoles(tenant, undefined)).length,
    interrupt: (await store.readInterrupt({ tenant }, gate.interruptId)) !== undefined,
    event: (await store.readExternalEvent(event)) !== undefined,
    webhook: (await store.readWebhook({ tenant }, webhook.webhookId)) !== undefined,
    deliveries: (await store.listDeliveries({ tenant }, { limit: 10 })).length,
  });
  return { unit, traces, runId, idempotency, effect, event };
}

const EVERYTHING = {
  run: true,
  row: true,
  events: 1,
  audit: 1,
  head: 1,
  idempotency: true,
  effect: true,
  workflow: true,
  definition: true,
  artifact: true,
  key: true,
  roles: 1,
  definitions: 1,
  interrupt: true,
  event: true,
  webhook: true,
  deliveries: 1,
};

const NOTHING = Object.fromEntries(
  Object.entries(EVERYTHING).map(([name, value]) => [name, typeof value === "number" ? 0 : false]),
);

export function units(subject: Subject): void {
  describe("a unit", () => {
    test("happens whole", async () => {
      const { store } = subject;
      const { unit, traces } = fullUnit(newTenant());
      await accept(store, unit);
      expect(await traces(store)).toEqual(EVERYTHING);
    });

    test("without anything in it is accepted", async () => {
      await accept(subject.store, { tenant: newTenant() });
    });

    test("refused for the version of a run leaves no trace", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { unit, traces } = fullUnit(tenant);
      const other = startedRun({ tenant });
      const runs = [...(unit.runs ?? []), runWrite(next(other, NOW, nodeStarted()))];
      expect((await refused(store, { ...unit, runs })).type).toBe("version");
      expect(await traces(store)).toEqual(NOTHING);
    });

    test("refused for a lease leaves no trace", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { unit, traces } = fullUnit(tenant);
      const other = startedRun({ tenant });
      await save(store, other);
      const runs = [...(unit.runs ?? []), runWrite(next(other, NOW, nodeStarted()), { heldBy: "worker-1" })];
      expect(await refused(store, { ...unit, runs })).toEqual({ type: "lease", runId: other.run.runId });
      expect(await traces(store)).toEqual(NOTHING);
    });

    test("refused for an active run leaves no trace", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { unit, traces } = fullUnit(tenant);
      const active = startedRun({ tenant });
      await accept(store, { tenant, runs: [runWrite(active, { dedupScope: "s" })] });
      const runs = [...(unit.runs ?? []), runWrite(startedRun({ tenant }), { dedupScope: "s" })];
      expect(await refused(store, { ...unit, runs })).toEqual({ type: "active", runId: active.run.runId });
      expect(await traces(store)).toEqual(NOTHING);
    });

    test("refused for an effect leaves no trace", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { unit, traces, effect } = fullUnit(tenant);
      await accept(store, { tenant, effectClaims: [effect] });
      expect((await refused(store, unit)).type).toBe("effect");
      expect(await traces(store)).toEqual({ ...NOTHING, effect: true });
    });

    test("refused for its idempotency key leaves no trace", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { unit, traces, idempotency } = fullUnit(tenant);
      await accept(store, { tenant, idempotency });
      expect((await refused(store, unit)).type).toBe("idempotency");
      expect(await traces(store)).toEqual({ ...NOTHING, idempotency: true });
    });

    test("refused for an external event leaves no trace", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { unit, traces, event } = fullUnit(tenant);
      await accept(store, { tenant, externalEvents: [{ type: "put", event, nowMs: NOW }] });
      expect((await refused(store, unit)).type).toBe("external-event");
      expect(await traces(store)).toEqual({ ...NOTHING, event: true });
    });

    test("refused for several reasons names its runs first, then effects, its key and external events", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { unit } = fullUnit(tenant);
      await accept(store, unit);
      const { runs: _, ...withoutRuns } = unit;
      const { effectClaims: __, ...withKeyOnly } = withoutRuns;
      expect((await refused(store, unit)).type).toBe("version");
      expect((await refused(store, withoutRuns)).type).toBe("effect");
      expect((await refused(store, withKeyOnly)).type).toBe("idempotency");
      const { idempotency: ___, ...withoutKey } = withKeyOnly;
      expect((await refused(store, withoutKey)).type).toBe("external-event");
    });

    test("refused does no harm to the units beside it", async () => {
      const { store } = subject;
      const taken = fullUnit(newTenant());
      await accept(store, taken.unit);
      const attempts = upTo(24).map((n) => {
        const full = fullUnit(newTenant());
        const wrong = { ...full.unit, effectClaims: [taken.effect] };
        return { ...full, fits: n % 3 > 0, unit: n % 3 > 0 ? full.unit : wrong };
      });
      const results = await Promise.all(attempts.map(({ unit }) => store.commit(unit)));
      expect(results.map((result) => result.ok)).toEqual(attempts.map(({ fits }) => fits));
      for (const { traces, fits } of attempts) expect(await traces(store)).toEqual(fits ? EVERYTHING : NOTHING);
    });

    test("that cannot be written at all fails its caller alone", async () => {
      const { store } = subject;
      // A lone surrogate has no canonical form, so no hash.
      const broken: Unit = { tenant: newTenant(), audit: [auditDraft("run.create", { name: "\ud800" })] };
      const attempts = upTo(12).map((n) => {
        const full = fullUnit(newTenant());
        return { ...full, fits: n % 4 > 0, unit: n % 4 > 0 ? full.unit : broken };
      });
      const results = await Promise.allSettled(attempts.map(({ unit }) => store.commit(unit)));
      expect(results.map((result) => result.status === "fulfilled" && result.value.ok)).toEqual(
        attempts.map(({ fits }) => fits),
      );
      for (const { traces, fits } of attempts) if (fits) expect(await traces(store)).toEqual(EVERYTHING);
      expect(await store.auditHead(broken.tenant)).toBeUndefined();
    });

    test("changes several runs together", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const parent = startedRun({ tenant });
      await save(store, parent);
      const more = next(parent, NOW, nodeStarted());
      const child = startedRun({ tenant });
      await accept(store, { tenant, runs: [runWrite(child), runWrite(more)] });
      expect(await store.readRun({ tenant }, parent.run.runId)).toEqual(more.run);
      expect(await store.readRun({ tenant }, child.run.runId)).toEqual(child.run);
    });

    test("registers host-wide what the host itself brings", async () => {
      const { store } = subject;
      const workflow = workflowWrite(HOST_WIDE, "wf-host");
      await accept(store, { tenant: "_host", workflows: [workflow], audit: [auditDraft("workflow.register")] });
      expect((await store.readWorkflow(newTenant(), "wf-host"))?.hash).toBe(workflow.hash);
    });
  });
}
