import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectedSignature, type Received, WebhookReceiver } from "../../src/testing/webhook-receiver.ts";
import { OutsideHost, refusal } from "./host.ts";
import { READER, STRANGER } from "./keys.ts";

const EVENTS = ["run.completed"];

/** Registration as everybody meets it. */
export function webhookScenarios(host: () => OutsideHost): void {
  describe("a webhook", () => {
    test("is advertised with how it signs", async () => {
      const { webhooks } = (await host().ask("GET", "/.well-known/openwop", { key: "" })).json;
      expect(webhooks).toMatchObject({ supported: true, signatureAlgorithms: ["v1"] });
    });

    test.each([
      ["plain HTTP", "http://hooks.example.com/x"],
      ["another scheme", "ftp://hooks.example.com/x"],
      ["loopback", "https://127.0.0.1/x"],
      ["loopback in other clothes", "https://0x7f.1/x"],
      ["loopback by name", "https://localhost/x"],
      ["loopback of IPv6", "https://[::1]/x"],
      ["a private network", "https://10.1.2.3/x"],
      ["another private network", "https://192.168.1.1/x"],
      ["a private network in IPv6 clothes", "https://[::ffff:10.0.0.1]/x"],
      ["a unique local address", "https://[fd00::1]/x"],
      ["the address of cloud metadata", "https://169.254.169.254/latest/meta-data"],
      ["the name of cloud metadata", "https://metadata.google.internal/"],
    ])("is refused for %s", async (_, url) => {
      const answer = await host().ask("POST", "/v1/webhooks", { body: { url, events: EVENTS } });
      expect(refusal(answer)).toEqual([400, "webhook_url_rejected"]);
    });

    test.each([
      ["no URL", { events: EVENTS }],
      ["no URL worth the name", { url: "not a url", events: EVENTS }],
      ["no events", { url: "https://hooks.example.com/x" }],
      ["an empty list of events", { url: "https://hooks.example.com/x", events: [] }],
      ["an event that does not exist", { url: "https://hooks.example.com/x", events: ["run.exploded"] }],
      ["a field nobody knows", { url: "https://hooks.example.com/x", events: EVENTS, colour: "red" }],
    ])("is refused with %s", async (_, body) => {
      expect(refusal(await host().ask("POST", "/v1/webhooks", { body }))).toEqual([400, "validation_error"]);
    });

    test("is for those who may, in their own tenant", async () => {
      const body = { url: "https://hooks.example.com/x", events: EVENTS };
      expect((await host().ask("POST", "/v1/webhooks", { body, key: "" })).status).toBe(401);
      expect(refusal(await host().ask("POST", "/v1/webhooks", { body, key: READER }))).toEqual([403, "forbidden"]);
      const foreign = await host().ask("POST", "/v1/webhooks", { body: { ...body, tenantId: "t2" } });
      expect(refusal(foreign)).toEqual([403, "tenant_mismatch"]);
    });

    test("is deleted in the tenant of the key, and in no other that a request names", async () => {
      const body = { url: "https://hooks.example.com/x", events: EVENTS };
      const { webhookId } = (await host().ask("POST", "/v1/webhooks", { body })).json;
      const path = `/v1/webhooks/${webhookId}`;
      expect(refusal(await host().ask("DELETE", `${path}?tenantId=t2`))).toEqual([403, "tenant_mismatch"]);
      const unknown = await host().ask("DELETE", "/v1/webhooks/hook-unknown?tenantId=t2");
      expect(refusal(unknown)).toEqual([403, "tenant_mismatch"]);
      expect(refusal(await host().ask("DELETE", `${path}?tenant=t1`))).toEqual([400, "validation_error"]);
      expect((await host().ask("DELETE", `${path}?tenantId=t1`)).status).toBe(204);
      expect(refusal(await host().ask("DELETE", path))).toEqual([404, "subscription_not_found"]);
    });

    test("that does not exist cannot be deleted", async () => {
      const answer = await host().ask("DELETE", "/v1/webhooks/whk-unknown");
      expect(refusal(answer)).toEqual([404, "subscription_not_found"]);
    });
  });
}

/** Deliveries to a receiver on loopback, by a host that was told to allow that. */
export function deliveryScenarios(database: () => Promise<readonly string[]>): void {
  describe("deliveries", () => {
    let host: OutsideHost;
    let mine: WebhookReceiver;
    let theirs: WebhookReceiver;
    beforeAll(async () => {
      mine = await WebhookReceiver.start();
      theirs = await WebhookReceiver.start();
      const flags = ["--allow-private-webhooks", "--gate-timeout", "3600", "--event-retention", "7200"];
      host = await OutsideHost.start(await database(), [...flags, "--webhook-retry-ms", "20"]);
    }, 60_000);
    afterAll(async () => {
      await host.stop();
      await Promise.all([mine.close(), theirs.close()]);
    });

    const register = (receiver: WebhookReceiver, more: object = {}, key?: string) =>
      host.ask("POST", "/v1/webhooks", {
        body: { url: receiver.url(), events: EVENTS, ...more },
        ...(key === undefined ? {} : { key }),
      });

    test("are signed, carry the event as it is logged, and name what they are", async () => {
      const registered = await register(mine, { events: ["run.completed", "interrupt.requested"], tenantId: "t1" });
      expect(registered.status).toBe(201);
      const { webhookId, secret, secretFingerprint } = registered.json;
      expect(webhookId).toEqual(expect.any(String));
      expect(secretFingerprint).toBe(createHash("sha256").update(secret).digest("hex").slice(0, 8));
      const runId = await host.waits("approval");
      await host.answer(runId, { action: "accept" });
      await host.ends(runId);
      const received = await mine.got(2);
      const log = await host.events(runId);
      for (const one of received) {
        const { type, runId: of, event } = JSON.parse(one.body);
        expect([type, of]).toEqual([event.type, runId]);
        expect(event).toEqual(log[event.sequence]);
        expect(one.headers).toMatchObject({
          "content-type": "application/json",
          "x-openwop-webhook-id": webhookId,
          "x-openwop-event-type": event.type,
          "x-openwop-signature-algorithm": "v1",
        });
        expect(one.headers["x-openwop-timestamp"]).toMatch(/^\d{10}$/);
        expect(one.headers["x-openwop-signature"]).toBe(expectedSignature(secret, one));
        expect(expectedSignature("another-secret-0000", one)).not.toBe(one.headers["x-openwop-signature"]);
      }
      expect(received.map(typeOf).sort()).toEqual(["interrupt.requested", "run.completed"]);
      const list = await host.ask("GET", "/v1/host/assay/webhooks");
      expect(list.text).not.toContain(secret);
      expect((await host.ask("DELETE", `/v1/webhooks/${webhookId}`)).status).toBe(204);
      expect((await host.ask("DELETE", `/v1/webhooks/${webhookId}`)).status).toBe(404);
    });

    test("sign with the secret that the caller brought", async () => {
      const secret = "a-secret-of-my-own-0001";
      const registered = await register(mine, { secret });
      const before = mine.received.length;
      await host.ends(await host.begin("noop"));
      const one = (await mine.got(before + 1))[before] as Received;
      expect(one.headers["x-openwop-signature"]).toBe(expectedSignature(secret, one));
      await host.ask("DELETE", `/v1/webhooks/${registered.json.webhookId}`);
    });

    test("go to the tenant whose run it is, and to no other", async () => {
      const [before, elsewhere] = [mine.received.length, theirs.received.length];
      const registered = await register(mine);
      const foreign = await register(theirs, {}, STRANGER);
      expect(refusal(await host.ask("DELETE", `/v1/webhooks/${foreign.json.webhookId}`))).toEqual([
        404,
        "subscription_not_found",
      ]);
      const own = await host.begin("noop");
      await mine.got(before + 1);
      const other = await host.begin("noop", {}, STRANGER);
      await theirs.got(elsewhere + 1);
      expect(mine.received.slice(before).map(runOf)).toEqual([own]);
      expect(theirs.received.slice(elsewhere).map(runOf)).toEqual([other]);
      await host.ask("DELETE", `/v1/webhooks/${registered.json.webhookId}`);
      await host.ask("DELETE", `/v1/webhooks/${foreign.json.webhookId}`, { key: STRANGER });
    });

    test("are tried again when the receiver fails, under the same delivery id", async () => {
      const before = mine.received.length;
      mine.behave(500);
      const registered = await register(mine);
      const runId = await host.begin("noop");
      await mine.got(before + 1);
      mine.behave(200);
      const received = (await mine.got(before + 2)).slice(before);
      expect(received.map(runOf)).toEqual([runId, runId]);
      expect(new Set(received.map((one) => one.headers["x-openwop-delivery-id"])).size).toBe(1);
      await host.ask("DELETE", `/v1/webhooks/${registered.json.webhookId}`);
    });

    test("hand the token of a gate to the callback of its run, which answers with it", async () => {
      const before = mine.received.length;
      const runId = await host.waits("approval", { callbackUrl: mine.url("/callback") });
      const told = JSON.parse(((await mine.got(before + 1))[before] as Received).body);
      expect(told).toMatchObject({ runId, nodeId: "gate", kind: "approval", interruptToken: expect.any(String) });
      expect(told.callbackUrl).toBe(`${host.url}/v1/interrupts/${told.interruptToken}`);
      expect((await host.byToken(told.interruptToken, { action: "accept" })).status).toBe(200);
      expect((await host.ends(runId)).status).toBe("completed");
    });

    test("come from a host whose settings are those it advertises", async () => {
      const { extensions } = (await host.ask("GET", "/.well-known/openwop", { key: "" })).json;
      expect(extensions.interrupts).toMatchObject({
        externalEventRetentionSeconds: 7200,
        defaultGateTimeoutSeconds: 3600,
      });
    });
  });
}

function typeOf({ body }: Received): string {
  return JSON.parse(body).event.type;
}

function runOf({ body }: Received): string {
  return JSON.parse(body).runId;
}
