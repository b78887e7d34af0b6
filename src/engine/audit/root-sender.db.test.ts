import { afterEach, describe, expect, test } from "vitest";
import { auditLogOn, record } from "../../testing/audit-log.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { engineOn } from "../../testing/engine.ts";
import { eventually } from "../../testing/eventually.ts";
import { expectedSignature, type Received, WebhookReceiver } from "../../testing/webhook-receiver.ts";
import type { Host } from "../host.ts";
import { ROOT_EVENT, type RootSender, startRootSender } from "./root-sender.ts";
import { type AuditSigner, auditVerifier } from "./signer.ts";

const SECRET = "a secret of the receiver of roots";

interface RootMessage {
  readonly tenant: string;
  readonly checkpoint: string;
  readonly prevSequence: number;
  readonly atSequence: number;
  readonly merkleRoot: string;
  readonly signature: string;
  readonly publicKey?: string;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.each(BOTH_STORES)("signed roots that are sent elsewhere, on %s", (_, open) => {
  async function bench() {
    const { store, drop } = await open();
    closing.push(drop, () => store.close());
    const receiver = await WebhookReceiver.start();
    closing.push(() => receiver.close());
    return { ...(await auditLogOn(store)), receiver, engine: engineOn(store) };
  }

  function sending(host: Host, signer: AuditSigner, url: string, refusals: string[] = []): RootSender {
    const sender = startRootSender(host, signer, {
      url,
      secret: SECRET,
      batchMax: 2,
      sweepMs: 10,
      retryMs: 5,
      retryMaxMs: 20,
      chance: () => 0,
      onRefusal: (reason) => refusals.push(reason),
      onError: (error) => console.error(error),
    });
    closing.push(() => sender.stop(0));
    return sender;
  }

  const messages = (received: readonly Received[]) => received.map(({ body }): RootMessage => JSON.parse(body));
  const endsOf = (received: readonly Received[], tenant: string) =>
    messages(received)
      .filter((message) => message.tenant === tenant)
      .map(({ atSequence }) => atSequence);

  test("arrive once each, in order, signed twice: by the secret and by the key of the log", async () => {
    const { store, signer, checkpointer, receiver, engine } = await bench();
    await record(store, "acme", 10);
    await record(store, "globex", 2);
    for (const tenant of ["acme", "globex"]) await checkpointer.checkpointTenant(tenant);
    const sender = sending(engine, signer, receiver.url());
    const received = await receiver.got(4);
    expect(endsOf(received, "acme")).toEqual([4, 8, 10]);
    expect(endsOf(received, "globex")).toEqual([2]);
    for (const one of received) {
      expect(one.headers).toMatchObject({
        "x-openwop-event-type": ROOT_EVENT,
        "x-openwop-webhook-id": "audit-roots",
        "x-openwop-signature": expectedSignature(SECRET, one),
      });
      const [{ merkleRoot, signature, publicKey = "", checkpoint }] = messages([one]) as [RootMessage];
      expect(one.headers["x-openwop-delivery-id"]).toBe(checkpoint);
      expect(auditVerifier(publicKey).verify(merkleRoot, signature)).toBe(true);
    }
    // A later root follows without a gap, and no earlier one is repeated, also not by a sender that starts anew.
    await sender.stop(1000);
    await record(store, "acme", 3);
    await checkpointer.checkpointTenant("acme");
    const again = sending(engine, signer, receiver.url());
    await receiver.got(5);
    await again.stop(1000);
    expect(messages(receiver.received)[4]).toMatchObject({ tenant: "acme", prevSequence: 10, atSequence: 13 });
    expect(receiver.received).toHaveLength(5);
  });

  test("are kept while the receiver is away, and signing goes on", async () => {
    const { store, signer, checkpointer, receiver, engine } = await bench();
    receiver.behave(503);
    const refusals: string[] = [];
    const sender = sending(engine, signer, receiver.url(), refusals);
    await record(store, "acme", 4);
    await checkpointer.checkpointTenant("acme");
    await eventually(() => expect(refusals.length).toBeGreaterThan(2));
    await record(store, "acme", 4);
    await checkpointer.checkpointTenant("acme");
    expect(await store.readCheckpoints("acme", 0, 99)).toHaveLength(2);
    expect(new Set(endsOf(receiver.received, "acme"))).toEqual(new Set([4]));
    // The same delivery at each attempt, so that a receiver can recognise a repetition.
    expect(new Set(receiver.received.map(({ headers }) => headers["x-openwop-delivery-id"])).size).toBe(1);
    receiver.behave(204);
    await eventually(() => expect(sender.stats().sent).toBe(2));
    expect(endsOf(receiver.received, "acme").slice(-2)).toEqual([4, 8]);
  });

  test("of other tenants are not held up by one that the receiver refuses", async () => {
    const { store, signer, checkpointer, receiver, engine } = await bench();
    receiver.behave((response, { body }) => {
      response.writeHead(JSON.parse(body).tenant === "acme" ? 422 : 200).end();
    });
    for (const tenant of ["acme", "globex"]) {
      await record(store, tenant, 2);
      await checkpointer.checkpointTenant(tenant);
    }
    const sender = sending(engine, signer, receiver.url());
    await eventually(() => expect(sender.stats().sent).toBe(1));
    expect(endsOf(receiver.received, "globex")).toEqual([2]);
  });

  test("that were signed last are sent when the host stops", async () => {
    const { store, signer, checkpointer, receiver, engine } = await bench();
    const sender = sending(engine, signer, receiver.url());
    await record(store, "acme", 2);
    await checkpointer.checkpointTenant("acme");
    await sender.stop(5000);
    expect(endsOf(receiver.received, "acme")).toEqual([2]);
  });

  test("reach no private address unless private addresses are allowed", async () => {
    const { store, signer, checkpointer, receiver, engine } = await bench();
    const refusals: string[] = [];
    const guarded = { ...engine, outbound: { ...engine.outbound, allowPrivate: false } };
    sending(guarded, signer, receiver.url(), refusals);
    await record(store, "acme", 2);
    await checkpointer.checkpointTenant("acme");
    await eventually(() => expect(refusals.length).toBeGreaterThan(0));
    expect(receiver.connections).toBe(0);
  });

  test("of a checkpoint that no key of the host signed carry no key", async () => {
    const { store, signer, receiver, engine } = await bench();
    await record(store, "acme", 2);
    const forged = { checkpoint: "cp-forged", merkleRoot: "0".repeat(64), signature: "AAAA" };
    await store.putCheckpoint("acme", { ...forged, prevSequence: 0, atSequence: 2, atMs: 0 });
    sending(engine, signer, receiver.url());
    const [message] = messages(await receiver.got(1));
    expect(message).toMatchObject({ checkpoint: "cp-forged" });
    expect(message).not.toHaveProperty("publicKey");
  });
});
