import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import {
  auditDraft,
  effectClaim,
  HOUR,
  idempotencyClaim,
  idempotencyOutcome,
  NOW,
  newId,
  newKey,
  newTenant,
  next,
  nodeStarted,
  runWrite,
  startedRun,
  workflowWrite,
} from "../../testing/builders.ts";
import { eventually } from "../../testing/eventually.ts";
import { externalEvent, newDelivery, newWebhook } from "../../testing/gate-builders.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { verifiedChain } from "../../testing/store-contract/audit.ts";
import { accept, idsOf, save, sequencesOf, upTo } from "../../testing/store-contract/subject.ts";
import type { ExternalEventKey, WebhookRecord } from "../port/gates.ts";
import { type Change, NO_CHANGE, type Store, type Unit } from "../port/store.ts";
import { openPostgresStore } from "./postgres-store.ts";

const ROUNDS = 25;

let database: TestDatabase;
let hosts: readonly [Store, Store];
beforeAll(async () => {
  database = await createDatabase();
  const open = () => openPostgresStore({ url: database.url, poolSize: 4 });
  // At once, on an empty database: one migrates, the other waits for it.
  hosts = await Promise.all([open(), open()]);
});
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  await database.drop();
});

/** Lets both hosts commit at the same moment; every unit must be accepted or refused, never fail. */
async function race(units: readonly Unit[]) {
  return Promise.all(units.map((unit, n) => (hosts[n % 2] as Store).commit(unit)));
}

describe("two hosts on one database", () => {
  test("never let both win a run, a new run, a key, an effect, a scope or an external event", async () => {
    const tenant = newTenant();
    const event = (round: number) => externalEvent(tenant, { eventId: `${round}` });
    const deliver = (key: ExternalEventKey) =>
      ({ type: "delivered", key, answer: "{}", expiresAtMs: NOW + HOUR }) as const;
    for (const round of upTo(ROUNDS)) {
      const started = startedRun({ tenant });
      await save(hosts[0], started);
      const runId = newId("run");
      const contests: [string, () => Unit][] = [
        ["version", () => ({ tenant, runs: [runWrite(next(started, NOW, nodeStarted()))] })],
        ["version", () => ({ tenant, runs: [runWrite(startedRun({ tenant, runId }))] })],
        ["idempotency", () => ({ tenant, idempotency: idempotencyOutcome(tenant, { key: `${round}` }) })],
        ["effect", () => ({ tenant, effectClaims: [effectClaim(runId)] })],
        ["external-event", () => ({ tenant, externalEvents: [{ type: "put", event: event(round), nowMs: NOW }] })],
        ["external-event", () => ({ tenant, externalEvents: [deliver(event(round))] })],
        ["active", () => ({ tenant, runs: [runWrite(startedRun({ tenant }), { dedupScope: `${round}` })] })],
      ];
      for (const [type, unit] of contests) {
        const results = await race([unit(), unit(), unit(), unit()]);
        expect(results.filter((result) => result.ok)).toHaveLength(1);
        for (const result of results) if (!result.ok) expect(result.refusal.type).toBe(type);
      }
      expect(await sequencesOf(hosts[1], started.run.runId)).toEqual([0, 1]);
    }
  });

  test("share the audit chain of a tenant, a new one too", async () => {
    for (const _ of upTo(5)) {
      const tenant = newTenant();
      const units = upTo(60).map((): Unit => ({ tenant, audit: [auditDraft("one"), auditDraft("two")] }));
      await race(units);
      for (const host of hosts) expect(await verifiedChain(host, tenant)).toHaveLength(120);
    }
  });

  test("do not get in each other's way, in whatever order they touch the same rows", async () => {
    const tenants = upTo(4).map(newTenant);
    const runs = tenants.flatMap((tenant) => upTo(6).map(() => startedRun({ tenant })));
    for (const run of runs) await save(hosts[0], run);
    const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
    const hooks = upTo(3).map(() => newWebhook(tenants[0] ?? ""));
    const deliver = async (host: Store, owner: string): Promise<void> => {
      for (const one of await host.claimDeliveries({ owner, nowMs: NOW, untilMs: NOW, limit: 9 })) {
        const { deliveryId, webhookId = "" } = one;
        const webhook = { webhookId, failures: deeds, ...(deeds % 2 ? { disabledAtMs: NOW } : {}) };
        await host.finishAttempt({ deliveryId, owner, state: "delivered", attempts: 1, atMs: NOW, webhook });
      }
    };
    const removeWebhook = (host: Store, { tenant, webhookId }: WebhookRecord) =>
      host.commit({ tenant, webhooks: [{ type: "delete", webhookId }] });
    let deeds = 0;
    const work = async (host: Store): Promise<void> => {
      while (++deeds < 600) {
        const { run } = any(runs);
        const { tenant } = run.owner;
        const current = (await host.readRun({ tenant }, run.runId)) ?? run;
        const more = next({ run: current, events: [] }, NOW, nodeStarted(`n${deeds}`));
        await host.commit({
          tenant,
          runs: [runWrite(more), runWrite(startedRun({ tenant }), { dedupScope: `s${deeds % 40}` })],
          audit: [auditDraft()],
          idempotency: idempotencyOutcome(any(tenants), { key: `k${deeds % 50}`, state: "retryable-failure" }),
          effectClaims: deeds % 3 ? [] : [effectClaim(run.runId, { effectId: `e${deeds % 30}-${run.runId}` })],
          workflows: [workflowWrite(tenant, `wf-${deeds % 5}`)],
          roles: [{ tenant, principal: `p${deeds % 5}`, roles: ["viewer"], groups: [`g${deeds}`] }],
          roleDefinitions: [{ type: "put", role: `r${deeds % 5}`, scopes: [] }],
          webhooks: deeds % 8 ? [] : [{ type: "put", webhook: hooks[deeds % 3] as WebhookRecord }],
          deliveries: hooks.map(({ webhookId }) => newDelivery({ webhookId, runId: run.runId, sequence: deeds })),
        });
        if (deeds % 7 === 0)
          await host.claimRuns({ owner: "w", nowMs: NOW, untilMs: NOW, limit: 5, engineVersion: ENGINE_VERSION });
        if (deeds % 5 === 0) await deliver(host, `h${deeds}`);
        if (deeds % 60 === 0) await removeWebhook(host, any(hooks));
        if (deeds % 9 === 0) await host.renewLeases("w", idsOf(runs.map((one) => one.run)).reverse(), NOW);
        if (deeds % 11 === 0) await host.claimIdempotency(idempotencyClaim(tenant, { key: `k${deeds % 50}` }));
        if (deeds % 50 === 0) await host.purge(NOW + 48 * HOUR);
      }
    };
    await Promise.all(upTo(24).map((n) => work(hosts[n % 2] as Store)));
    for (const tenant of tenants) await verifiedChain(hosts[0], tenant);
    for (const { run } of runs) {
      const sequences = await sequencesOf(hosts[0], run.runId);
      expect(sequences).toEqual(upTo(sequences.length));
      expect((await hosts[1].runRow(run.runId))?.version).toBe(sequences.length);
    }
  });

  test("never claim the same run", async () => {
    const tenant = newTenant();
    // Due before everything that other tests left behind, and before anybody's lease.
    const atMs = NOW - 100 * HOUR;
    const built = upTo(60).map(() => startedRun({ tenant, atMs }));
    await Promise.all(built.map((one) => save(hosts[0], one)));
    const claim = { nowMs: atMs, untilMs: atMs + HOUR, limit: 4, engineVersion: ENGINE_VERSION };
    const work = async (host: Store, owner: string): Promise<string[]> => {
      const got: string[] = [];
      while ((await host.nextWakeAtMs(atMs, ENGINE_VERSION)) === atMs)
        got.push(...idsOf(await host.claimRuns({ ...claim, owner })));
      return got;
    };
    const got = await Promise.all(upTo(6).map((n) => work(hosts[n % 2] as Store, `worker-${n}`)));
    expect(got.flat().sort()).toEqual(idsOf(built.map(({ run }) => run)).sort());
  });

  test("never claim the same delivery, and only one finishes it", async () => {
    const tenant = newTenant();
    const atMs = NOW - 100 * HOUR;
    const deliveries = upTo(60).map(() => newDelivery({ atMs, url: "https://example.com/back" }));
    await accept(hosts[0], { tenant, deliveries });
    const work = async (host: Store, owner: string): Promise<string[]> => {
      const got: string[] = [];
      for (;;) {
        const claimed = await host.claimDeliveries({ owner, nowMs: atMs, untilMs: atMs + HOUR, limit: 4 });
        if (claimed.length === 0 && (await host.nextDeliveryAtMs(atMs)) !== atMs) return got;
        for (const { deliveryId } of claimed) {
          got.push(deliveryId);
          const done = { deliveryId, state: "delivered" as const, attempts: 1, atMs };
          expect(await hosts[1].finishAttempt({ ...done, owner: "somebody else" })).toBe(false);
          expect(await host.finishAttempt({ ...done, owner })).toBe(true);
        }
      }
    };
    const got = await Promise.all(upTo(6).map((n) => work(hosts[n % 2] as Store, `host-${n}`)));
    expect(got.flat().sort()).toEqual(deliveries.map(({ deliveryId }) => deliveryId).sort());
  });

  test("make one secret between them", async () => {
    const made = await Promise.all(upTo(8).map((n) => (hosts[n % 2] as Store).hostSecret("s", () => `${n}`)));
    expect(new Set(made).size).toBe(1);
  });
});

describe("a change made by one host", () => {
  /** What each host hears from now on. */
  function listen(): { heard: [Change[], Change[]]; stop: () => void } {
    const heard: [Change[], Change[]] = [[], []];
    const stops = hosts.map((host, n) => host.onChange((change) => heard[n]?.push(change)));
    return { heard, stop: () => stops.forEach((stop) => void stop()) };
  }

  test("is heard by both, by each once", async () => {
    const { heard, stop } = listen();
    const started = startedRun({ tenant: newTenant() });
    await save(hosts[0], started);
    const key = newKey(started.run.owner.tenant);
    await accept(hosts[0], { tenant: key.tenant, keys: [{ type: "put", key }] });
    const expected = [
      { ...NO_CHANGE, runIds: [started.run.runId], work: true },
      { ...NO_CHANGE, keys: true },
    ];
    await eventually(() => expect(heard).toEqual([expected, expected]));
    // The second host says something: whatever the first might still hear of itself would have come before it.
    const answer = startedRun({ tenant: newTenant() });
    await save(hosts[1], answer);
    await eventually(() => expect(heard[0]).toHaveLength(3));
    expect(heard[0]).toEqual([...expected, { ...NO_CHANGE, runIds: [answer.run.runId], work: true }]);
    stop();
  });

  test("to webhooks and deliveries is heard by both, whether or not it was a commit", async () => {
    const { heard, stop } = listen();
    const webhook = newWebhook(newTenant());
    const { tenant, webhookId } = webhook;
    const delivery = newDelivery({ webhookId, atMs: NOW - 200 * HOUR });
    await accept(hosts[0], { tenant, webhooks: [{ type: "put", webhook }], deliveries: [delivery] });
    const expected: Change[] = [{ ...NO_CHANGE, webhooks: true, deliveries: true }];
    await eventually(() => expect(heard).toEqual([expected, expected]));

    const { deliveryId, atMs } = delivery;
    await hosts[0].claimDeliveries({ owner: "h", nowMs: atMs, untilMs: NOW, limit: 1 });
    const disabled = { webhookId, failures: 1, disabledAtMs: atMs };
    await hosts[0].finishAttempt({ deliveryId, owner: "h", state: "dead", attempts: 1, atMs, webhook: disabled });
    expected.push({ ...NO_CHANGE, webhooks: true });
    await eventually(() => expect(heard).toEqual([expected, expected]));
    await hosts[1].redeliver({ tenant }, { deliveryId }, atMs);
    expected.push({ ...NO_CHANGE, deliveries: true });
    await eventually(() => expect(heard).toEqual([expected, expected]));
    stop();
  });

  test("that is too long to say is heard as a change of everything", async () => {
    const { heard, stop } = listen();
    const tenant = newTenant();
    await accept(hosts[0], { tenant, runs: upTo(300).map(() => runWrite(startedRun({ tenant }))) });
    await eventually(() => expect(heard[1]).toEqual([{ ...NO_CHANGE, runIds: "all", work: true }]));
    expect(heard[0]?.[0]?.runIds).toHaveLength(300);
    stop();
  });
});
