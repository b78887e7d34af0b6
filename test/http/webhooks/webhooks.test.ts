import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Deliveries } from "../../../src/engine/webhooks/dispatcher.ts";
import { deliveriesOn, settled, untilDeliveries } from "../../../src/testing/deliveries.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { expectedSignature, type Received, WebhookReceiver } from "../../../src/testing/webhook-receiver.ts";

let host: TestHost;
let receiver: WebhookReceiver;
let deliveries: Deliveries;
beforeAll(async () => {
  host = await testHost();
  deliveries = deliveriesOn(host.host, { attemptsMax: 2 });
});
beforeEach(async () => {
  receiver = await WebhookReceiver.start();
  return () => receiver.close();
});
afterAll(async () => {
  await deliveries.stop(0);
  await host.close();
});

const OWN = "/v1/host/assay/webhooks";

async function registered(json: object = {}, as: Who = "owner"): Promise<{ webhookId: string; secret: string }> {
  const body = { url: receiver.url(), events: ["run.started"], ...json };
  const response = await host.ask("POST", "/v1/webhooks", { as, json: body });
  expect(response.statusCode).toBe(201);
  return response.json();
}

describe("registering a webhook", () => {
  test("gives its id, a secret that is shown only now, and how to recognise the secret", async () => {
    const response = await host.ask("POST", "/v1/webhooks", {
      json: { url: receiver.url(), events: ["run.*", "run.started"], tags: ["eu"] },
    });
    expect(response.statusCode).toBe(201);
    const { webhookId, secret, secretFingerprint, ...rest } = response.json();
    expect(rest).toEqual({});
    expect(webhookId).toMatch(/^hook-/);
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    expect(secretFingerprint).toBe(createHash("sha256").update(secret).digest("hex").slice(0, 8));
    const { webhooks } = (await host.ask("GET", OWN)).json();
    expect(webhooks.find((each: { webhookId: string }) => each.webhookId === webhookId)).toMatchObject({
      url: receiver.url(),
      events: ["run.*", "run.started"],
      tags: ["eu"],
      secretFingerprint,
      state: "active",
      failures: 0,
      createdBy: "ada",
    });
  });

  test("refuses a tag that looks like a secret, and stores nothing", async () => {
    const tag = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const json = { url: receiver.url("/tagged"), events: ["run.started"], tags: ["eu", tag] };
    const response = await host.ask("POST", "/v1/webhooks", { json });
    expectError(response, "validation_error");
    expect(response.payload).not.toContain(tag);
    expect((await host.ask("GET", OWN)).payload).not.toContain("/tagged");
  });

  test("takes the caller's tenant and secret in the body, and signs with that secret", async () => {
    const secret = "a-secret-of-the-receivers-own";
    expect((await registered({ tenantId: "t1", secret })).secret).toBe(secret);
    await host.newRun();
    const [received] = (await receiver.got(1)) as [Received];
    expect(received.headers["x-openwop-signature"]).toBe(expectedSignature(secret, received));
  });

  test("for another tenant is refused", async () => {
    const json = { url: receiver.url(), events: ["run.started"], tenantId: "t2" };
    expectError(await host.ask("POST", "/v1/webhooks", { json }), "tenant_mismatch");
  });

  test.each([
    ["without a url", { events: ["run.started"] }],
    ["without events", { url: "https://hooks.example.com/" }],
    ["with no events", { url: "https://hooks.example.com/", events: [] }],
    ["with an event that never happens", { url: "https://hooks.example.com/", events: ["run.complete"] }],
    ["with a short secret", { url: "https://hooks.example.com/", events: ["*"], secret: "fifteen-letters" }],
    ["with what nobody knows", { url: "https://hooks.example.com/", events: ["*"], colour: "red" }],
    ["with a url that is none", { url: "not a url", events: ["*"] }],
    ["with a url that is no text", { url: 7, events: ["*"] }],
    ["with an empty url", { url: "", events: ["*"] }],
  ])("%s is not valid", async (_, json) => {
    expectError(await host.ask("POST", "/v1/webhooks", { json }), "validation_error");
  });

  test("at an address that deliveries must not go to is refused, and nothing is kept", async () => {
    const guarded = await testHost({ host: { outbound: { ...host.host.outbound, allowPrivate: false } } });
    const ask = (url: string) => guarded.ask("POST", "/v1/webhooks", { json: { url, events: ["*"] } });
    for (const url of [
      "http://hooks.example.com/",
      "https://localhost/",
      "https://127.0.0.1/",
      "https://10.0.0.1/",
      "https://192.168.1.1/",
      "https://169.254.169.254/latest/meta-data/",
      "https://[::1]/",
      "https://[fd00::1]/",
      "https://[fe80::1]/",
      "https://metadata.google.internal/",
    ]) {
      expectError(await ask(url), "webhook_url_rejected");
    }
    expect((await guarded.ask("GET", OWN)).json()).toEqual({ webhooks: [] });
    await guarded.close();
  });

  test("is not repeated for somebody else, who would read the secret", async () => {
    const made = await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "max", roles: ["admin"] } });
    const authorization = `Bearer ${made.json().key}`;
    const json = { url: receiver.url(), events: ["run.started"] };
    const headers = { "idempotency-key": "mine" };
    expect((await host.ask("POST", "/v1/webhooks", { json, headers })).statusCode).toBe(201);
    const other = await host.ask("POST", "/v1/webhooks", { json, headers: { ...headers, authorization } });
    expectError(other, "idempotency_key_mismatch");
  });

  test("happens once under one Idempotency-Key", async () => {
    const json = { url: receiver.url(), events: ["run.failed"] };
    const headers = { "idempotency-key": "same" };
    const [one, two] = [
      await host.ask("POST", "/v1/webhooks", { json, headers }),
      await host.ask("POST", "/v1/webhooks", { json, headers }),
    ];
    expect(two.payload).toBe(one.payload);
  });

  test("leaves no trace of the secret but in its answer", async () => {
    const { secret } = await registered({ secret: "only-the-two-of-us-know-it" });
    await host.newRun();
    await receiver.got(1);
    const audit = await host.ask("GET", "/v1/host/assay/audit/entries");
    expect(audit.payload).toContain("webhook.registered");
    for (const { payload } of [audit, await host.ask("GET", OWN)]) expect(payload).not.toContain(secret);
    expect(JSON.stringify(host.logged)).not.toContain(secret);
    expect(JSON.stringify(receiver.received)).not.toContain(secret);
  });

  test("stops at a hundred for one tenant, also where many come at once", async () => {
    const small = await testHost();
    const json = { url: receiver.url(), events: ["run.started"] };
    const all = await Promise.all(Array.from({ length: 130 }, () => small.ask("POST", "/v1/webhooks", { json })));
    expect(all.filter(({ statusCode }) => statusCode === 201)).toHaveLength(100);
    await small.close();
  });

  test("stops at a hundred for one tenant", async () => {
    const small = await testHost();
    const json = { url: receiver.url(), events: ["run.failed"] };
    for (let i = 0; i < 100; i++) await small.ask("POST", "/v1/webhooks", { json });
    expectError(await small.ask("POST", "/v1/webhooks", { json }), "validation_error");
    expect((await small.ask("POST", "/v1/webhooks", { as: "other", json })).statusCode).toBe(201);
    await small.close();
  });
});

describe("a webhook", () => {
  test("is deleted once, and gets nothing afterwards", async () => {
    const { webhookId } = await registered();
    const deleted = await host.ask("DELETE", `/v1/webhooks/${webhookId}`);
    expect(deleted).toMatchObject({ statusCode: 204, payload: "" });
    expect(deleted.headers).not.toHaveProperty("content-type");
    expectError(await host.ask("DELETE", `/v1/webhooks/${webhookId}`), "subscription_not_found");
    await host.newRun();
    expect((await host.store.listDeliveries({ tenant: "t1" }, { limit: 10, webhookId })).length).toBe(0);
    expect(receiver.connections).toBe(0);
  });

  test("is deleted once under one Idempotency-Key, with one answer", async () => {
    const { webhookId } = await registered();
    const headers = { "idempotency-key": `delete ${webhookId}`.replace(" ", "-") };
    for (const replayed of [undefined, "true"]) {
      const deleted = await host.ask("DELETE", `/v1/webhooks/${webhookId}`, { headers });
      expect(deleted).toMatchObject({ statusCode: 204, payload: "" });
      expect(deleted.headers["openwop-idempotent-replay"]).toBe(replayed);
    }
  });

  test("of another tenant or workspace does not exist", async () => {
    const { webhookId } = await registered({}, "east");
    const routes = [
      ["DELETE", `/v1/webhooks/${webhookId}`, undefined],
      ["GET", `${OWN}/${webhookId}/deliveries`, undefined],
      ["POST", `${OWN}/${webhookId}:redeliver`, {}],
      ["POST", `${OWN}/${webhookId}:enable`, undefined],
      ["POST", `${OWN}/${webhookId}:test`, undefined],
    ] as const;
    for (const as of ["other", "west"] as const) {
      for (const [method, url, json] of routes) {
        const asked = json === undefined ? { as } : { as, json };
        expectError(await host.ask(method, url, asked), "subscription_not_found");
      }
      expect((await host.ask("GET", OWN, { as })).payload).not.toContain(webhookId);
    }
    expect((await host.ask("GET", OWN, { as: "east" })).payload).toContain(webhookId);
    expect((await host.ask("GET", OWN)).payload).toContain(webhookId);
    expect(receiver.connections).toBe(0);
  });

  test("gets events of its own tenant only, and of its workspace only where it has one", async () => {
    const others = await WebhookReceiver.start();
    const west = await WebhookReceiver.start();
    await registered({ url: receiver.url() }, "owner");
    await registered({ url: others.url() }, "other");
    await registered({ url: west.url() }, "west");
    const mine = await host.newRun("owner");
    const theirs = await host.newRun("other");
    const eastern = await host.newRun("east");
    const western = await host.newRun("west");
    const runs = async (from: WebhookReceiver, count: number) =>
      (await from.got(count)).map(({ body }) => JSON.parse(body).runId).sort();
    expect(await runs(receiver, 3)).toEqual([mine, eastern, western].sort());
    expect(await runs(others, 1)).toEqual([theirs]);
    expect(await runs(west, 1)).toEqual([western]);
    await untilDeliveries(host, settled, {}, "t2");
    expect([receiver.received.length, others.received.length, west.received.length]).toEqual([3, 1, 1]);
    await Promise.all([others.close(), west.close()]);
  });

  test("shows its deliveries, page by page and by state, and has dead ones delivered again", async () => {
    const { webhookId } = await registered();
    receiver.behave(500);
    for (let i = 0; i < 3; i++) await host.newRun();
    await untilDeliveries(host, settled, { webhookId });
    const list = async (query = "") => (await host.ask("GET", `${OWN}/${webhookId}/deliveries${query}`)).json();
    const all = (await list()).deliveries;
    expect(all).toHaveLength(3);
    expect(all[0]).toMatchObject({
      deliveryId: expect.stringMatching(/^dlv-/),
      eventType: "run.started",
      sequence: 0,
      state: "dead",
      attempts: 2,
      lastStatus: 500,
      finishedAt: expect.any(String),
    });
    const first = await list("?limit=2");
    expect(first.deliveries).toEqual(all.slice(0, 2));
    expect(await list(`?limit=2&cursor=${first.nextCursor}`)).toEqual({ deliveries: all.slice(2) });
    expect(await list("?state=delivered")).toEqual({ deliveries: [] });
    expectError(await host.ask("GET", `${OWN}/${webhookId}/deliveries?state=lost`), "validation_error");
    expectError(await host.ask("GET", `${OWN}/${webhookId}/deliveries?cursor=x`), "validation_error");

    receiver.behave(200);
    const enabled = await host.ask("POST", `${OWN}/${webhookId}:enable`);
    expect(enabled.json()).toMatchObject({ webhookId, state: "active", failures: 0 });
    const again = await host.ask("POST", `${OWN}/${webhookId}:redeliver`, { json: {} });
    expect(again.json()).toEqual({ webhookId, redelivered: 3 });
    await untilDeliveries(host, (found) => found.every(({ state }) => state === "delivered"), { webhookId });
    const unknown = { deliveryId: all[0].deliveryId };
    expectError(await host.ask("POST", `${OWN}/${webhookId}:redeliver`, { json: unknown }), "not_found");
  });

  test("is tried with a signed delivery, and what came of it is told", async () => {
    const { webhookId, secret } = await registered({ events: ["run.failed"] });
    const attempt = async () => (await host.ask("POST", `${OWN}/${webhookId}:test`)).json();
    expect(await attempt()).toEqual({ webhookId, delivered: true, status: 200 });
    const [received] = receiver.received as [Received];
    expect(received.headers).toMatchObject({
      "x-openwop-event-type": "assay.webhook.test",
      "x-openwop-webhook-id": webhookId,
      "x-openwop-signature": expectedSignature(secret, received),
    });
    expect(JSON.parse(received.body)).toMatchObject({
      type: "assay.webhook.test",
      event: { type: "assay.webhook.test", payload: { webhookId } },
    });
    receiver.behave(503);
    expect(await attempt()).toEqual({ webhookId, delivered: false, status: 503 });
    await receiver.close();
    expect(await attempt()).toEqual({ webhookId, delivered: false, error: "the connection was refused" });
  });

  test("goes through the guard when it is tried, too", async () => {
    const { webhookId } = await registered({ events: ["run.failed"] });
    const guarded = await testHost({
      store: host.store,
      host: { outbound: { ...host.host.outbound, allowPrivate: false } },
    });
    const tried = await guarded.ask("POST", `${OWN}/${webhookId}:test`);
    expect(tried.json()).toMatchObject({ delivered: false, error: expect.stringContaining("https://") });
    expect(receiver.connections).toBe(0);
    await guarded.app.close();
  });

  test("leaves an entry in the audit log for everything that is done with it", async () => {
    const { webhookId } = await registered();
    await host.ask("POST", `${OWN}/${webhookId}:enable`);
    await host.ask("POST", `${OWN}/${webhookId}:redeliver`, { json: {} });
    await host.ask("DELETE", `/v1/webhooks/${webhookId}`);
    const entries = (await host.store.readAudit("t1", 1, 100_000, 100_000)).filter(
      ({ target }) => target === webhookId,
    );
    expect(entries.map(({ action, actor }) => `${actor} ${action}`)).toEqual([
      "ada webhook.registered",
      "ada webhook.enabled",
      "ada webhook.redelivery_requested",
      "ada webhook.deleted",
    ]);
  });
});

describe("a host with webhooks switched off", () => {
  test("does not know their routes and does not advertise them", async () => {
    const off = await testHost({ capabilities: ["pauseResume"] });
    expectError(await off.ask("POST", "/v1/webhooks", { json: { url: receiver.url(), events: ["*"] } }), "not_found");
    expectError(await off.ask("DELETE", "/v1/webhooks/hook-1"), "not_found");
    expectError(await off.ask("GET", OWN), "not_found");
    expect((await off.app.inject("/.well-known/openwop")).json()).not.toHaveProperty("webhooks");
    await off.close();
  });

  test("while one that serves them says so", async () => {
    expect((await host.app.inject("/.well-known/openwop")).json().webhooks).toEqual({
      supported: true,
      signatureAlgorithms: ["v1"],
      durable: true,
    });
  });
});
