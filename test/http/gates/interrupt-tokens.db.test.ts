import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InterruptView } from "../../../src/protocol/gates/api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

const ACCEPT = { action: "accept" };

describe.each(HTTP_STORES)("an interrupt answered with a token on %s", (_, open) => {
  let host: TestHost;
  let gates: GateClient;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    gates = new GateClient(host);
    await gates.register("plain", "core.approvalGate", { title: "Ship it?" });
    await gates.register("guarded", "core.approvalGate", { profile: "openwop-interrupt-auth-required" });
    await gates.register("named", "core.approvalGate", { approversList: ["vera"] });
    await gates.register("joint", "core.approvalGate", { requiredApprovals: 2 });
    await gates.register("governed", "core.openwop.governance.approvalGate", { requiredRole: "admin" });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  test("shows what it is for and takes the answer, with no other credential", async () => {
    const runId = await gates.waiting("plain");
    const token = await gates.token(runId);
    const seen = await gates.byToken(token);
    expect(seen.statusCode).toBe(200);
    expect(seen.headers["cache-control"]).toBe("no-store");
    expect(matches(InterruptView, seen.json())).toBe(true);
    expect(seen.json()).toMatchObject({
      runId,
      kind: "approval",
      key: "gate:0",
      data: { title: "Ship it?" },
      expiresAt: expect.any(String),
    });
    expectError(await gates.byToken(token, { action: "nonsense" }), "validation_error");
    expect((await gates.byToken(token, ACCEPT)).statusCode).toBe(200);
    expectError(await gates.byToken(token, ACCEPT), "interrupt_already_resolved");
    expectError(await gates.byToken(token), "interrupt_already_resolved");
  });

  test("for looking does not answer", async () => {
    const runId = await gates.waiting("plain");
    const { interruptId } = await gates.interrupt(runId);
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const token = host.host.tokens.mint({ runId, nodeId: "gate", interruptId, expiresAt, intent: "inspect" });
    expect((await gates.byToken(token)).statusCode).toBe(200);
    expectError(await gates.byToken(token, ACCEPT), "forbidden");
    expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
  });

  test("that is malformed, forged, or for another interrupt opens nothing", async () => {
    const runId = await gates.waiting("plain");
    const other = await gates.waiting("plain");
    const token = await gates.token(runId);
    const [payload = "", mac = ""] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, runId: other })).toString("base64url");
    for (const wrong of [`${forged}.${mac}`, `${payload}.${"A".repeat(mac.length)}`, `${payload}.${mac.slice(1)}x`]) {
      expectError(await gates.byToken(wrong), "interrupt_not_found");
      expectError(await gates.byToken(wrong, ACCEPT), "interrupt_not_found");
    }
    for (const malformed of ["x", "a.b.c", "%20", ".", payload]) {
      expectError(await gates.byToken(malformed), "interrupt_not_found");
      expectError(await gates.byToken(malformed, ACCEPT), "interrupt_not_found");
    }
    // Signed by this host, for an interrupt of another run.
    const { interruptId } = await gates.interrupt(other);
    const crossed = host.host.tokens.mint({ ...claims, interruptId });
    expectError(await gates.byToken(crossed), "interrupt_not_found");
    expectError(await gates.byToken(crossed, ACCEPT), "interrupt_not_found");
    for (const id of [runId, other]) expect(await gates.snapshot(id)).toMatchObject({ status: "waiting-approval" });
  });

  test("is looked at before anything that comes with it", async () => {
    const body = "{ this is no JSON";
    const post = (token: string) =>
      host.ask("POST", `/v1/interrupts/${token}`, { body, headers: { authorization: "" } });
    expectError(await post("YQ.YQ"), "interrupt_not_found");
    expectError(await post(await gates.token(await gates.waiting("plain"))), "validation_error");
  });

  test("that has expired is 410, and its interrupt still waits", async () => {
    const runId = await gates.waiting("plain");
    const { interruptId } = await gates.interrupt(runId);
    const expiresAt = new Date(Date.now() - 1).toISOString();
    const token = host.host.tokens.mint({ runId, nodeId: "gate", interruptId, expiresAt, intent: "resolve" });
    expectError(await gates.byToken(token), "interrupt_expired");
    expectError(await gates.byToken(token, ACCEPT), "interrupt_expired");
    expect((await gates.answer(runId, ACCEPT)).statusCode).toBe(200);
  });

  test.each(["guarded", "named", "joint", "governed"])(
    "does not open the %s gate, nor is one handed out for it",
    async (id) => {
      const runId = await gates.waiting(id);
      expect((await gates.snapshot(runId)).interrupt).not.toHaveProperty("interruptToken");
      const { interruptId } = await gates.interrupt(runId);
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      const token = host.host.tokens.mint({ runId, nodeId: "gate", interruptId, expiresAt, intent: "resolve" });
      expectError(await gates.byToken(token, ACCEPT), "auth_elevation_required");
      expectError(await gates.byToken(token), "auth_elevation_required");
      expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
    },
  );

  test("is shown only to those who may answer, and never in the log", async () => {
    const runId = await gates.waiting("plain");
    for (const as of ["viewer", "narrow"] as const) {
      const seen = await gates.snapshot(runId, as);
      expect(seen.interrupt).toMatchObject({ nodeId: "gate" });
      expect(JSON.stringify(seen)).not.toContain("interruptToken");
      expect(JSON.stringify(seen)).not.toContain("/v1/interrupts/");
    }
    const token = await gates.token(runId);
    expect(JSON.stringify(await gates.events(runId))).not.toContain(token);
    expect(JSON.stringify(host.logged)).not.toContain(token);
  });

  test("happens once under one Idempotency-Key", async () => {
    const runId = await gates.waiting("plain");
    const url = `/v1/interrupts/${await gates.token(runId)}`;
    const headers = { authorization: "", "idempotency-key": "once" };
    const json = { resumeValue: ACCEPT };
    const first = await host.ask("POST", url, { headers, json });
    expect(first.statusCode).toBe(200);
    const again = await host.ask("POST", url, { headers, json });
    expect(again.payload).toBe(first.payload);
    expect(again.headers["openwop-idempotent-replay"]).toBe("true");
    expectError(
      await host.ask("POST", url, { headers, json: { resumeValue: { action: "reject" } } }),
      "idempotency_key_mismatch",
    );
  });
});
