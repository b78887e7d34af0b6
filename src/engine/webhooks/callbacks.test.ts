import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { deliveriesOn, settled, untilDeliveries } from "../../testing/deliveries.ts";
import { ADA, begin, engineOn, register, until } from "../../testing/engine.ts";
import { type Received, WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { change, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { cancelRun } from "../runs/change-run.ts";
import type { Deliveries } from "./dispatcher.ts";

const bench = workbench();
let host: Host;
let receiver: WebhookReceiver;
let deliveries: Deliveries | undefined;
beforeEach(async () => {
  host = engineOn(bench.store);
  receiver = await WebhookReceiver.start();
  bench.work(host);
});
afterEach(async () => {
  await deliveries?.stop(0);
  deliveries = undefined;
  await receiver.close();
});

const waits = ({ status }: { readonly status: string }) => status.startsWith("waiting-");

/** A run that waits at a gate, with what is to be posted about it in the outbox. */
async function waitingAt(config: object = {}, variables: readonly object[] = [], inputs: object = {}): Promise<string> {
  const gate = { typeId: "core.approvalGate", config, ...inputs };
  await register(host, workflow({ id: "gate", nodes: { ask: gate }, variables } as never));
  const runId = await begin(host, {
    workflowId: "gate",
    callbackUrl: receiver.url("/cb"),
    inputs: { pin: "8341-4711" },
  });
  await until(bench.store, runId, waits);
  return runId;
}

describe("the callback of a run that waits", () => {
  test("brings a token for its interrupt, and where to take it", async () => {
    const runId = await waitingAt({ title: "Ship it?", timeoutMs: 600_000 });
    deliveries = deliveriesOn(host);
    const [received] = (await receiver.got(1)) as [Received];
    const [interruptId = ""] = Object.keys((await host.store.readRun(ADA, runId))?.interrupts ?? {});
    const body = JSON.parse(received.body);
    expect(body).toEqual({
      runId,
      nodeId: "ask",
      interruptId,
      kind: "approval",
      interruptToken: expect.any(String),
      callbackUrl: `https://assay.example.com/v1/interrupts/${body.interruptToken}`,
      expiresAt: expect.any(String),
      requestedAt: expect.any(String),
      data: expect.objectContaining({ title: "Ship it?" }),
    });
    const { expiresAt } = body;
    expect(host.tokens.read(body.interruptToken)).toMatchObject({
      runId,
      nodeId: "ask",
      interruptId,
      expiresAt,
      intent: "resolve",
    });
    expect(received.path).toBe("/cb");
    expect(received.headers).toMatchObject({
      "content-type": "application/json",
      "x-openwop-event-type": "interrupt.requested",
      "x-openwop-delivery-id": expect.stringMatching(/^dlv-/),
    });
    expect(received.headers).not.toHaveProperty("x-openwop-signature");
    expect(await untilDeliveries(host, settled)).toMatchObject([{ state: "delivered", attempts: 1 }]);
  });

  test("shows no sensitive value", async () => {
    const inputs = { inputs: { artifactData: { type: "variable", variableName: "pin" } } };
    await waitingAt({}, [{ name: "pin", type: "string", sensitive: true }], inputs);
    deliveries = deliveriesOn(host);
    const [received] = await receiver.got(1);
    expect(received?.body).toContain("[REDACTED]");
    expect(received?.body).not.toContain("8341-4711");
  });

  test("is attempted again when it fails", async () => {
    await waitingAt();
    receiver.behave((response) => response.writeHead(receiver.received.length < 2 ? 500 : 200).end());
    deliveries = deliveriesOn(host);
    expect(await untilDeliveries(host, settled)).toMatchObject([{ state: "delivered", attempts: 2 }]);
  });

  test("holds up nobody else when it goes to a place that is slow", async () => {
    const slow = await WebhookReceiver.start();
    slow.behave(() => {});
    await register(host, workflow({ id: "gate", nodes: { ask: "core.approvalGate" } }));
    for (let i = 0; i < 60; i++) await begin(host, { workflowId: "gate", callbackUrl: slow.url() });
    await untilDeliveries(host, (all) => all.length === 60);
    await begin(host, { workflowId: "gate", callbackUrl: receiver.url() });
    await untilDeliveries(host, (all) => all.length === 61);
    // Slow beyond the patience of this test.
    const patient = { ...host, outbound: { ...host.outbound, timeoutMs: 600_000 } };
    deliveries = deliveriesOn(patient, { inHandMax: 30, leaseMs: 6_000_000 });
    expect(await receiver.got(1)).toHaveLength(1);
    await slow.close();
  });

  test("is not sent once nobody waits any more", async () => {
    const runId = await waitingAt();
    await cancelRun(host, change(runId));
    deliveries = deliveriesOn(host);
    expect(await untilDeliveries(host, settled)).toMatchObject([{ state: "delivered", attempts: 0 }]);
    expect(receiver.connections).toBe(0);
  });

  test.each([
    ["names its approvers", { approversList: ["bob"] }],
    ["asks for an authenticated answer", { profile: "openwop-interrupt-auth-required" }],
  ])("is not sent for a gate that %s: a token could not open it", async (_, config) => {
    await waitingAt(config);
    deliveries = deliveriesOn(host);
    expect(await untilDeliveries(host, settled)).toMatchObject([{ state: "delivered", attempts: 0 }]);
    expect(receiver.connections).toBe(0);
  });
});
