import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../../src/testing/engine.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { gateWorkflow, Member, openGate } from "../../../src/testing/inbox-client.ts";

let host: TestHost;
let ana: Member;
beforeAll(async () => {
  host = await testHost({ worker: true });
  ana = await Member.join(host, "ana");
});
afterAll(() => host.close());

describe("deciding several at once", () => {
  test("gives one result each, in order, whatever comes of the others", async () => {
    const plain = await gateWorkflow(host, { config: { requiredApprovals: 2 } });
    const forBen = await gateWorkflow(host, { config: { approversList: ["ben"] } });
    const [one, two, bens] = [await openGate(host, plain), await openGate(host, plain), await openGate(host, forBen)];
    const accept = { action: "accept" };
    const results = await ana.decide(
      { interruptId: one.interruptId, resumeValue: accept },
      { interruptId: "int-unknown", resumeValue: accept },
      { interruptId: bens.interruptId, resumeValue: accept },
      { interruptId: two.interruptId, resumeValue: { action: "dance" } },
      { interruptId: two.interruptId, resumeValue: { action: "reject", feedback: "no" } },
      { interruptId: two.interruptId, resumeValue: accept },
    );
    expect(results).toMatchObject([
      {
        ...one,
        ok: true,
        nodeId: "gate",
        status: "waiting-approval",
        resolved: false,
        tally: { granted: 1, required: 2 },
      },
      { interruptId: "int-unknown", ok: false, error: { error: "interrupt_not_found" } },
      { ...bens, ok: false, error: { error: "forbidden" } },
      { ...two, ok: false, error: { error: "validation_error" } },
      { ...two, ok: true, resolved: true, outcome: "rejected" },
      { ...two, ok: false, error: { error: "interrupt_already_resolved" } },
    ]);
    expect(results[1]).not.toHaveProperty("runId");
    const waiting = await host.store.readRun({ tenant: "t1" }, bens.runId);
    expect(waiting?.status).toBe("waiting-approval");
  });

  test("gives the answers to one run one after the other, as they stand", async () => {
    const config = { requiredApprovals: 3, rejectionPolicy: "majority" };
    const { interruptId, runId } = await openGate(host, await gateWorkflow(host, { config }));
    const actions = Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? "accept" : "reject"));
    const results = await ana.decide(...actions.map((action) => ({ interruptId, resumeValue: { action } })));
    expect(results.map(({ tally }) => tally?.granted)).toEqual(actions.map((action) => (action === "accept" ? 1 : 0)));
    expect(await ana.inbox(`?runId=${runId}`)).toMatchObject([{ interruptId, mine: "reject" }]);
  });

  test("decides a hundred gates of a hundred runs", async () => {
    const workflowId = await gateWorkflow(host);
    const opened = await Promise.all(Array.from({ length: 100 }, () => openGate(host, workflowId)));
    const items = opened.map(({ interruptId }) => ({ interruptId, resumeValue: { action: "accept" } }));
    const results = await ana.decide(...items);
    expect(results.map(({ ok, interruptId, outcome }) => [ok, interruptId, outcome])).toEqual(
      opened.map(({ interruptId }) => [true, interruptId, "granted"]),
    );
    for (const { runId } of opened) await until(host.store, runId, ({ status }) => status === "completed");
  });

  test("reaches nothing of another workspace or tenant", async () => {
    const { interruptId, runId } = await openGate(host, await gateWorkflow(host), bearer("east"));
    const json = { items: [{ interruptId, resumeValue: { action: "accept" } }] };
    for (const as of ["west", "other"] as const) {
      const answer = await host.ask("POST", "/v1/host/assay/inbox:decide", { as, json });
      expect(answer.json().results).toMatchObject([{ ok: false, error: { error: "interrupt_not_found" } }]);
    }
    expect((await host.store.readRun({ tenant: "t1" }, runId))?.status).toBe("waiting-approval");
  });

  test("is refused as a whole when it is malformed, and then decides nothing", async () => {
    const { interruptId } = await openGate(host, await gateWorkflow(host));
    const good = { interruptId, resumeValue: { action: "accept" } };
    const many = Array.from({ length: 101 }, () => good);
    for (const body of [
      {},
      { items: [] },
      { items: many },
      { items: [good, { interruptId }] },
      { items: [good], x: 1 },
    ]) {
      expectError(await ana.ask("POST", "/v1/host/assay/inbox:decide", body), "validation_error");
    }
    expect(await ana.answer(interruptId, { action: "accept" })).toMatchObject({ ok: true });
  });

  test("under one idempotency key happens once, and answers the same again", async () => {
    const { interruptId } = await openGate(host, await gateWorkflow(host));
    const body = { items: [{ interruptId, resumeValue: { action: "accept" } }] };
    const headers = { "idempotency-key": "decide-once" };
    const first = await ana.ask("POST", "/v1/host/assay/inbox:decide", body, headers);
    const again = await ana.ask("POST", "/v1/host/assay/inbox:decide", body, headers);
    expect(first.json().results).toMatchObject([{ ok: true, outcome: "granted" }]);
    expect(again.payload).toBe(first.payload);
    expect(again.headers).toMatchObject({ "openwop-idempotent-replay": "true" });
  });
});
