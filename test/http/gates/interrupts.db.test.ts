import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seedKeys } from "../../../src/engine/identity/seed-keys.ts";
import { ResolveInterruptResponse } from "../../../src/protocol/gates/api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const ACCEPT = { action: "accept" };
const RELAY = {
  key: "key-of-a-relay-in-t1",
  tenant: "t1",
  principal: "desk",
  roles: ["reviewer", "relayer"],
  scopes: ["*", "approvals:relay"],
};
const asRelay = { headers: { authorization: `Bearer ${RELAY.key}` } };

describe.each(HTTP_STORES)("an interrupt over HTTP on %s", (_, open) => {
  let host: TestHost;
  let gates: GateClient;
  let drop: () => Promise<void>;
  let skewMs = 0;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const settings = { eventRetentionMs: 86_400_000, anyVoter: true };
    host = await testHost({
      store: opened.store,
      worker: true,
      host: { nowMs: () => Date.now() + skewMs, gates: settings },
    });
    await seedKeys(host.host, [RELAY]);
    await host.ask("POST", "/v1/host/assay/roles", { json: { role: "relayer", scopes: ["approvals:relay"] } });
    gates = new GateClient(host);
    await gates.register("plain", "core.approvalGate", {
      title: "Ship it?",
      actions: ["accept", "reject", "refine", "edit-accept", "ask"],
    });
    await gates.register("quorum", "core.approvalGate", {
      requiredApprovals: 3,
      rejectionPolicy: "majority",
      approversList: [],
    });
    await gates.register("named", "core.approvalGate", { approversList: ["vera"] });
    await gates.register("questions", "core.clarificationGate", {
      questions: [{ id: "q1", question: "Which colour?", schema: { type: "string" } }],
    });
    await gates.register("event", "core.interrupt", {
      kind: "external-event",
      data: { eventType: "order.completed", correlation: { orderId: "o-1" } },
      timeoutMs: 60_000,
    });
    await gates.register("short", "core.approvalGate", { timeoutMs: 600_000 });
    await gates.registerWorkflow(
      workflow({ id: "parent", nodes: { spawn: { typeId: "core.subWorkflow", config: { workflowId: "plain" } } } }),
    );
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  describe("by run and node", () => {
    test("is answered once, and the run goes on", async () => {
      const runId = await gates.waiting("plain");
      const answer = await gates.answer(runId, ACCEPT);
      expect(answer.statusCode).toBe(200);
      expect(matches(ResolveInterruptResponse, answer.json())).toBe(true);
      expect(answer.json()).toMatchObject({ runId, nodeId: "gate", resolved: true, outcome: "granted" });
      expect(await gates.until(runId, (run) => run.status === "completed")).toMatchObject({ status: "completed" });
      expectError(await gates.answer(runId, ACCEPT), "interrupt_already_resolved");
    });

    test.each(["legal:review", "legal/review", "审批", "a b", "100%", "__proto__"])(
      "is found whatever its node is called: %s",
      async (id) => {
        const nodes = Object.fromEntries([[id, "core.approvalGate"]]);
        await gates.registerWorkflow(workflow({ id: "called", nodes }));
        const runId = await gates.waiting("called");
        const answer = await gates.answer(runId, ACCEPT, { node: encodeURIComponent(id) });
        expect(answer.json()).toMatchObject({ nodeId: id, resolved: true });
      },
    );

    test("shows itself in the snapshot while it is open, and not afterwards", async () => {
      const runId = await gates.waiting("plain");
      expect(await gates.snapshot(runId)).toMatchObject({
        status: "waiting-approval",
        currentNodeId: "gate",
        interrupt: { kind: "approval", nodeId: "gate", interruptToken: expect.any(String) },
      });
      await gates.answer(runId, ACCEPT);
      await gates.until(runId, (run) => run.status === "completed");
      expect(await gates.snapshot(runId)).not.toHaveProperty("interrupt");
    });

    test.each([
      ["no object", "yes"],
      ["no action", {}],
      ["an unknown action", { action: "approve" }],
      ["refine without feedback", { action: "refine" }],
      ["refine with feedback of no scope", { action: "refine", refineFeedback: { text: "shorter" } }],
      ["edit-accept without the edited artifact", { action: "edit-accept" }],
      ["ask without a question", { action: "ask" }],
      ["a field that nobody knows", { action: "accept", sudo: true }],
    ])("refuses %s and still waits", async (_what, value) => {
      const runId = await gates.waiting("plain");
      expectError(await gates.answer(runId, value), "validation_error");
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
      expect(await gates.events(runId, "assay.vote.recorded")).toEqual([]);
    });

    test("refuses a body without resumeValue, with more than it, or that is no JSON", async () => {
      const runId = await gates.waiting("plain");
      const url = `/v1/runs/${runId}/interrupts/gate`;
      for (const body of ["{}", '{"resumeValue":{"action":"accept"},"force":true}', "{", "[]"]) {
        expectError(
          await host.ask("POST", url, { body, headers: { "content-type": "application/json" } }),
          "validation_error",
        );
      }
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
    });

    test.each([
      ["a plain word", "granted"],
      ["an unknown decision", { decision: "maybe" }],
      ["nothing", {}],
      ["a reason that is no text", { decision: "granted", reason: 7 }],
      ["an override without a reason", { decision: "granted", override: true }],
    ])("of a governed gate refuses %s as INVALID_RESUME_VALUE", async (_what, value) => {
      await gates.register("overridable", "core.openwop.governance.approvalGate", {
        requiredRole: "admin",
        override: { requiredRole: "owner" },
      });
      const runId = await gates.waiting("overridable");
      expectError(await gates.answer(runId, value), "INVALID_RESUME_VALUE");
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
    });

    test("of a governed gate without resumeValue is refused with the same code, by the gate", async () => {
      const runId = await gates.waiting("overridable");
      const url = `/v1/runs/${runId}/interrupts/gate`;
      for (const json of [{}, undefined]) {
        expectError(await host.ask("POST", url, { json }), "INVALID_RESUME_VALUE");
      }
      expectError(await host.ask("POST", url, { json: { force: true } }), "validation_error");
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
    });

    test("needs a key, and the scope, and leaves the refusal in the log of the run", async () => {
      const runId = await gates.waiting("plain");
      const url = `/v1/runs/${runId}/interrupts/gate`;
      const json = { resumeValue: ACCEPT };
      expectError(await host.ask("POST", url, { json, headers: { authorization: "" } }), "unauthenticated");
      expectError(await gates.answer(runId, ACCEPT, { as: "narrow" }), "forbidden");
      expectError(await gates.answer(runId, ACCEPT, { as: "viewer" }), "forbidden");
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
      const denials = await gates.events(runId, "authorization.decided");
      expect(denials.map(({ payload }) => payload)).toMatchObject([
        { principal: "ada", action: "approvals:respond", allowed: false },
        { principal: "vic", action: "approvals:respond", allowed: false },
      ]);
    });

    test("does not exist for another tenant or workspace", async () => {
      const runId = await gates.waiting("plain", "east");
      for (const as of ["other", "west"] as const) expectError(await gates.answer(runId, ACCEPT, { as }), "not_found");
      expect(await gates.events(runId, "authorization.decided")).toEqual([]);
    });

    test("of a node that asks nothing, or of none, is not found", async () => {
      const runId = await gates.waiting("plain");
      for (const node of ["after", "nowhere", "__proto__"]) {
        expectError(await gates.answer(runId, ACCEPT, { node }), "interrupt_not_found");
      }
    });

    test("ends with a cancelled run: 422 by key, 409 by token", async () => {
      const runId = await gates.waiting("plain");
      const token = await gates.token(runId);
      await host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
      expectError(await gates.answer(runId, ACCEPT), "interrupt_cancelled");
      expectError(await gates.byToken(token, ACCEPT), "interrupt_already_resolved");
      expectError(await gates.byToken(token), "interrupt_already_resolved");
    });

    test("of a child ends with its parent: 410 on both surfaces", async () => {
      const parent = await gates.waiting("parent");
      const child = (await gates.snapshot(parent)).childRuns?.[0]?.runId ?? "";
      const token = await gates.token(child);
      await host.ask("POST", `/v1/runs/${parent}/cancel`, { json: {} });
      expectError(await gates.answer(child, ACCEPT), "interrupt_gone");
      expectError(await gates.byToken(token, ACCEPT), "interrupt_gone");
    });

    test("past its deadline is over for whoever touches it: 409 by key, 410 by token", async () => {
      const byKey = await gates.waiting("short");
      const byToken = await gates.waiting("short");
      const token = await gates.token(byToken);
      skewMs = 600_001;
      try {
        expectError(await gates.answer(byKey, ACCEPT), "interrupt_already_resolved");
        expectError(await gates.byToken(token, ACCEPT), "interrupt_expired");
        for (const runId of [byKey, byToken]) {
          const run = await gates.until(runId, ({ status }) => status === "failed");
          expect(run.error).toMatchObject({ code: "interrupt_timeout" });
          expect(await gates.events(runId, "interrupt.resolved")).toMatchObject([
            { payload: { outcome: "rejected", reason: "timeout" } },
          ]);
        }
      } finally {
        skewMs = 0;
      }
    });

    test("takes an external event that correlates, and no other", async () => {
      const runId = await gates.waiting("event");
      for (const value of [{ orderId: "o-2" }, {}, "o-1", null, [{ orderId: "o-1" }]]) {
        expectError(await gates.answer(runId, value), "correlation_mismatch");
      }
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-external" });
      expect((await gates.answer(runId, { orderId: "o-1", total: 3 })).statusCode).toBe(200);
      expect(await gates.until(runId, ({ status }) => status === "completed")).toBeDefined();
    });

    test("takes answers as an object or as a list, and only to what was asked", async () => {
      for (const answers of [{ q1: "blue" }, [{ id: "q1", answer: "blue" }]]) {
        const runId = await gates.waiting("questions");
        for (const wrong of [{}, { q2: "x" }, { q1: "blue", q2: "x" }, { q1: 7 }, [{ id: "q1" }], "blue", null]) {
          expectError(await gates.answer(runId, { answers: wrong }), "validation_error");
        }
        expect((await gates.answer(runId, { answers })).statusCode).toBe(200);
        expect(await gates.events(runId, "clarification.resolved")).toMatchObject([
          { payload: { answers: { q1: "blue" }, answeredBy: "ada" } },
        ]);
      }
    });

    test("is answered once under one Idempotency-Key, however often it is sent", async () => {
      const runId = await gates.waiting("quorum");
      const headers = { "idempotency-key": `vote-${runId}` };
      const [first, ...others] = await Promise.all([1, 2, 3, 4].map(() => gates.answer(runId, ACCEPT, { headers })));
      for (const one of others) expect(one.statusCode === 409 || one.payload === first?.payload).toBe(true);
      expect((await gates.interrupt(runId)).votes).toHaveLength(1);
    });

    test("takes the secrets out of what people write", async () => {
      const runId = await gates.waiting("plain");
      const secret = "sk-live-0123456789abcdef0123";
      await gates.answer(runId, { action: "accept", feedback: `use ${secret}` });
      await gates.until(runId, ({ status }) => status === "completed");
      expect(JSON.stringify(await gates.events(runId))).not.toContain(secret);
      expect(JSON.stringify(await gates.snapshot(runId))).not.toContain(secret);
    });
  });

  describe("with several open at once", () => {
    test("each has its own id and token, and any order of answers completes the run", async () => {
      const gate = { typeId: "core.approvalGate", config: {} };
      await gates.registerWorkflow(
        workflow({
          id: "three",
          nodes: { a: gate, b: gate, c: gate, end: "core.noop" },
          edges: ["a>end", "b>end", "c>end"],
        }),
      );
      const runId = await gates.waiting("three");
      const { interrupts = [], interrupt, currentNodeId } = await gates.snapshot(runId);
      expect(interrupts.map(({ nodeId }) => nodeId)).toEqual(["a", "b", "c"]);
      expect(interrupt).toEqual(interrupts[0]);
      expect(currentNodeId).toBe("a");
      expect(new Set(interrupts.map(({ interruptToken }) => interruptToken)).size).toBe(3);
      expect((await gates.byToken(String(interrupts[2]?.interruptToken), ACCEPT)).statusCode).toBe(200);
      expect((await gates.answer(runId, ACCEPT, { node: "b" })).statusCode).toBe(200);
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval", currentNodeId: "a" });
      await gates.answer(runId, ACCEPT, { node: "a" });
      expect(await gates.until(runId, ({ status }) => status === "completed")).toBeDefined();
    });
  });

  describe("with a quorum of three and nobody named", () => {
    test("counts distinct voters that one relaying key names", async () => {
      const runId = await gates.waiting("quorum");
      for (const [voter, granted] of [
        ["v1", 1],
        ["v2", 2],
        ["v2", 2],
      ] as const) {
        const answer = await gates.answer(runId, { action: "accept", voter }, asRelay);
        expect(answer.statusCode).toBe(200);
        expect(answer.json()).toMatchObject({
          resolved: false,
          status: "waiting-approval",
          tally: { granted, required: 3 },
        });
      }
      expect((await gates.answer(runId, { action: "accept", voter: "v3" }, asRelay)).json()).toMatchObject({
        resolved: true,
      });
      await gates.until(runId, ({ status }) => status === "completed");
      expect(await gates.events(runId, "approval.received")).toMatchObject([
        { payload: { action: "accept", decidedBy: "quorum:3-of-3" } },
      ]);
    });

    test("fails when a majority rejects", async () => {
      const runId = await gates.waiting("quorum");
      expect((await gates.answer(runId, { action: "reject", voter: "v1" }, asRelay)).json()).toMatchObject({
        resolved: false,
      });
      expect((await gates.answer(runId, { action: "reject", voter: "v2" }, asRelay)).json()).toMatchObject({
        resolved: true,
      });
      expect(await gates.until(runId, ({ status }) => status === "failed")).toMatchObject({
        error: { code: "approval_rejected" },
      });
    });
  });

  test("that names its approvers does not believe a name in the body", async () => {
    const runId = await gates.waiting("named");
    expectError(await gates.answer(runId, { action: "accept", voter: "vera" }), "forbidden");
    expectError(await gates.answer(runId, ACCEPT), "forbidden");
    expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
  });
});
