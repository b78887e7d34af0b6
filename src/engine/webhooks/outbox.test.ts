import { beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { RegisterWebhookRequest } from "../../protocol/webhooks/api.ts";
import type { Store, Unit } from "../../store/port/store.ts";
import { webhookTo } from "../../testing/deliveries.ts";
import { ADA, begin, engineOn, register, until } from "../../testing/engine.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { createRun } from "../runs/create-run.ts";
import { deleteWebhook } from "./manage-webhooks.ts";
import { withOutbox } from "./outbox.ts";

const bench = workbench();
const BOB: Caller = { ...ADA, tenant: "t2", principal: "bob" };
const EVE: Caller = { ...ADA, workspace: "east", principal: "eve" };
const URL = "https://8.8.8.8/hook";
let host: Host;
beforeEach(async () => {
  host = engineOn(bench.store);
  for (const caller of [ADA, BOB]) await register(host, workflow({ id: "noop", nodes: { a: "core.noop" } }), caller);
});

const hook = async (more: Partial<RegisterWebhookRequest>, caller = ADA): Promise<string> =>
  (await webhookTo(host, URL, more, caller)).webhookId;

/** Which webhooks the events of a run are to be delivered to, as `type webhook`. */
async function outbox(caller: Caller, webhooks: Readonly<Record<string, string>>): Promise<string[]> {
  const { tenant } = caller;
  const found = await host.store.listDeliveries({ tenant }, { limit: 1000 });
  return found.reverse().map(({ eventType, webhookId }) => {
    const name = Object.entries(webhooks).find(([, id]) => id === webhookId)?.[0];
    return `${eventType} ${name}`;
  });
}

describe("the outbox", () => {
  test("gets one delivery per event and webhook that wants it, with the events", async () => {
    const one = await hook({ events: ["run.started", "run.completed"] });
    const two = await hook({ events: ["run.*"] });
    bench.work(host);
    const runId = await begin(host, { workflowId: "noop" });
    await until(bench.store, runId, ended);
    expect(await outbox(ADA, { one, two })).toEqual([
      "run.started one",
      "run.started two",
      "run.completed one",
      "run.completed two",
    ]);
    const [first] = await host.store.listDeliveries({ tenant: "t1" }, { limit: 1 });
    expect(first).toMatchObject({ runId, state: "pending", attempts: 0 });
  });

  test("holds nothing of another tenant, and nothing of another workspace for a webhook of one", async () => {
    const mine = await hook({});
    const theirs = await hook({}, BOB);
    const eastern = await hook({}, EVE);
    await begin(host, { workflowId: "noop" }, ADA);
    await begin(host, { workflowId: "noop" }, EVE);
    await begin(host, { workflowId: "noop" }, BOB);
    const names = { mine, theirs, eastern };
    expect(await outbox(ADA, names)).toEqual(["run.started mine", "run.started mine", "run.started eastern"]);
    expect(await outbox(BOB, names)).toEqual(["run.started theirs"]);
  });

  test("holds events of runs with every tag that the webhook names", async () => {
    const both = await hook({ tags: ["nightly", "eu"] });
    const one = await hook({ tags: ["eu"] });
    await begin(host, { workflowId: "noop", tags: ["eu", "nightly", "x"] });
    await begin(host, { workflowId: "noop", tags: ["eu"] });
    await begin(host, { workflowId: "noop" });
    expect(await outbox(ADA, { both, one })).toEqual(["run.started both", "run.started one", "run.started one"]);
  });

  test("goes by a webhook from the moment it is made until it is deleted", async () => {
    await begin(host, { workflowId: "noop" });
    const one = await hook({});
    await begin(host, { workflowId: "noop" });
    expect(await outbox(ADA, { one })).toEqual(["run.started one"]);
    await deleteWebhook(host, { caller: ADA, webhookId: one, record: () => undefined });
    await begin(host, { workflowId: "noop" });
    expect(await outbox(ADA, { one })).toEqual([]);
  });

  test("holds nothing of a commit that is refused", async () => {
    await hook({});
    const request = {
      caller: ADA,
      request: { workflowId: "noop", scopeId: "s" },
      dedup: true,
      record: () => undefined,
    };
    await createRun(host, request);
    await expect(createRun(host, request)).rejects.toMatchObject({ code: "run_already_active" });
    expect(await outbox(ADA, {})).toHaveLength(1);
  });

  test("holds nothing while webhooks are switched off", async () => {
    await hook({});
    const off = { ...host, store: withOutbox(bench.store, { ...host, capabilities: new Set() }) };
    await begin(off, { workflowId: "noop" });
    expect(await outbox(ADA, {})).toEqual([]);
  });

  test("is left out of the way while there are no webhooks: the same unit, in the same turn", async () => {
    const passed: Unit[] = [];
    const watched: Store = {
      ...bench.store,
      commit: (unit) => {
        passed.push(unit);
        return bench.store.commit(unit);
      },
    };
    host = engineOn(watched);
    await begin(host, { workflowId: "noop" });
    const given = passed.at(-1) as Unit;
    passed.length = 0;
    const again = host.store.commit(given);
    expect(passed).toEqual([given]);
    expect(passed[0]).toBe(given);
    expect(await again).toMatchObject({ ok: false });
  });
});

describe("a run with a callbackUrl", () => {
  test("has a delivery for each interrupt it raises, and for nothing else", async () => {
    await register(host, workflow({ id: "gate", nodes: { ask: "core.approvalGate" } }));
    bench.work(host);
    const runId = await begin(host, { workflowId: "gate", callbackUrl: "https://8.8.8.8/cb" });
    const { interrupts } = await until(bench.store, runId, ({ status }) => status === "waiting-approval");
    const found = await host.store.listDeliveries({ tenant: "t1" }, { limit: 10 });
    expect(found).toMatchObject([
      { runId, eventType: "interrupt.requested", url: "https://8.8.8.8/cb", interruptId: Object.keys(interrupts)[0] },
    ]);
    expect(found[0]).not.toHaveProperty("webhookId");
  });

  test("is not created when nothing may be sent there", async () => {
    host = { ...host, outbound: { ...host.outbound, allowPrivate: false } };
    const started = begin(host, { workflowId: "noop", callbackUrl: "https://169.254.169.254/" });
    await expect(started).rejects.toMatchObject({ code: "webhook_url_rejected" });
    expect(await host.store.countRuns()).toEqual({});
  });
});
