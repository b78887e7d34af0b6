import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";
import { READER, STRANGER } from "./keys.ts";

const USAGE = {
  provider: "acme",
  model: "m-1",
  inputTokens: 5,
  outputTokens: 7,
  cacheReadTokens: 2,
  costEstimateUsd: 0.01,
};

/** What only a suite asks for. */
export function seamScenarios(host: () => OutsideHost): void {
  const ask = (path: string, body: object, key?: string) =>
    host().ask("POST", `/v1/host/sample/${path}`, { body, ...(key === undefined ? {} : { key }) });

  describe("the seam of provider usage", () => {
    const emit = (body: object, key?: string) => ask("test/emit-provider-usage", body, key);
    const recorded = async (runId: string) =>
      (await host().ask("GET", `/v1/host/sample/test/runs/${runId}/events?type=provider.usage`)).json.events;

    test("writes what is posted under the run that is named, and the run goes on", async () => {
      const runId = await host().waits("approval");
      const { status, json } = await emit({ runId, ...USAGE, nodeId: "gate" });
      expect([status, json.runId]).toEqual([200, runId]);
      expect(json.event).toMatchObject({ runId, nodeId: "gate", payload: { ...USAGE, nodeId: "gate" } });
      expect((await emit({ runId, payload: USAGE })).json.event.payload).toEqual(USAGE);
      expect(await recorded(runId)).toMatchObject([{ payload: { nodeId: "gate" } }, { payload: USAGE }]);
      expect((await host().answer(runId, { action: "accept" })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      expect(refusal(await emit({ runId, ...USAGE }))).toEqual([409, "run_state_conflict"]);
      expect((await host().types(runId)).at(-1)).toBe("run.completed");
    });

    test("makes the run where there is none, and none for a stranger", async () => {
      const runId = `usage-${Date.now()}`;
      expect((await emit({ runId, ...USAGE })).json).toMatchObject({ runId, event: { runId, payload: USAGE } });
      expect(await recorded(runId)).toMatchObject([{ payload: USAGE }]);
      expect(await host().ends(runId)).toMatchObject({ runId, status: "completed" });
      expect(refusal(await emit({ runId, ...USAGE }, STRANGER))).toEqual([404, "not_found"]);
      expect(await recorded(runId)).toHaveLength(1);
    });

    test.each([
      ["a key by its name", { ...USAGE, apiKey: "harmless" }],
      ["a key by its look", { ...USAGE, model: "sk-ant-api03-canaryCanary0123456789abcdef" }],
      [
        "a key inside the payload",
        { payload: { ...USAGE, traceId: "Bearer sk-ant-api03-canaryCanary0123456789abcdef" } },
      ],
    ])("refuses %s, without echoing it, and writes nothing", async (_, body) => {
      const runId = await host().waits("approval");
      const answer = await emit({ runId, ...body });
      expect(refusal(answer)).toEqual([400, "provider_usage_credential_leak"]);
      expect(answer.text).not.toContain("canaryCanary");
      expect(await recorded(runId)).toEqual([]);
    });

    test("refuses what is no usage", async () => {
      const { model: _, ...rest } = USAGE;
      for (const body of [rest, { ...USAGE, inputTokens: -1 }, { ...USAGE, prompt: "why" }, {}]) {
        expect(refusal(await emit(body))).toEqual([400, "validation_error"]);
      }
    });
  });

  describe("the seam of surfaces", () => {
    const surface = (body: object, key?: string) => ask("test/surface", body, key);

    test("is there for what is served, and not found for what is not", async () => {
      expect((await surface({ surface: "webhooks" })).json).toEqual({ surface: "webhooks", supported: true });
      for (const name of ["kvStorage", "host.sql", "no such thing"]) {
        expect(refusal(await surface({ surface: name, op: "list" }))).toEqual([404, "not_found"]);
      }
      expect(refusal(await surface({ surface: "webhooks", op: "explode" }))).toEqual([400, "validation_error"]);
    });

    test("registers, lists and unregisters webhooks, as far as the key may", async () => {
      const webhooks = (op: string, more: object = {}, key?: string) =>
        surface({ surface: "webhooks", op, ...more }, key);
      const listed = async (key?: string) =>
        (await webhooks("list", {}, key)).json.webhooks.map((one: { webhookId: string }) => one.webhookId);
      const target = { url: "https://example.com/hook", events: ["run.completed"] };
      const made = await webhooks("register", target);
      expect(made.json).toMatchObject({ webhookId: expect.any(String), secret: expect.any(String) });
      const { webhookId } = made.json;
      expect(await listed()).toContain(webhookId);
      expect(await listed(STRANGER)).not.toContain(webhookId);
      expect(refusal(await webhooks("unregister", { webhookId }, STRANGER))).toEqual([404, "subscription_not_found"]);
      expect(refusal(await webhooks("list", {}, READER))).toEqual([403, "forbidden"]);
      const inside = { ...target, url: "https://127.0.0.1/hook" };
      expect(refusal(await webhooks("register", { args: inside }))).toEqual([400, "webhook_url_rejected"]);
      expect((await webhooks("unregister", { webhookId })).json).toMatchObject({ webhookId, unregistered: true });
      expect(await listed()).not.toContain(webhookId);
    });
  });

  describe("the seam of tool hooks", () => {
    const invoke = (body: object) => ask("toolhooks/invoke", body);

    test("answers with both sides of a call, without its content", async () => {
      const args = { question: "a text that only the call has" };
      const { json, text } = await invoke({ toolName: "openwop:echo", args });
      expect(json.toolCalled).toMatchObject({
        toolName: "openwop:echo",
        argsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(json.toolReturned).toMatchObject({ status: "ok", durationMs: expect.any(Number) });
      expect(text).not.toContain("a text that only");
      const refused = (await invoke({ toolName: "vendor:shell", args })).json;
      expect(refused.toolReturned).toEqual({ toolName: "vendor:shell", status: "forbidden" });
      expect(refused.toolCalled.argsHash).toBe(json.toolCalled.argsHash);
    });
  });

  describe("the seam of deployments", () => {
    const transition = (body: object, key?: string) => ask("agents/deployment-transition", body, key);

    test.each(["core.conformance.live-agent", "vendor.acme.helper"])(
      "promotes the version of %s that it is asked for",
      async (agentId) => {
        for (const version of ["1.0.0", "2.4.0", "1.5.0"]) {
          const { json } = await transition({ scenario: "promote", agentId, version });
          expect(json).toMatchObject({ allowed: true, record: { agentId, version, state: "active" } });
          expect(await host().payloads(json.runId, "deployment.promoted")).toMatchObject([{ toVersion: version }]);
        }
      },
    );

    test("pins the version that it is asked for", async () => {
      const pin = { scenario: "channel-pin", agentId: "core.conformance.live-agent", channel: "canary" };
      for (const version of ["3.0.0", "2.9.0"]) {
        expect((await transition({ ...pin, version })).json).toMatchObject({ resolvedAgentVersion: version });
      }
    });

    test("refuses another workspace and another tenant, whatever is to be done there", async () => {
      for (const scenario of ["promote", "unauthorized", "eval-gate-unmet", "channel-pin"]) {
        for (const place of [{ workspace: "elsewhere" }, { workspaceId: "elsewhere" }]) {
          expect(refusal(await transition({ scenario, ...place }))).toEqual([403, "forbidden"]);
        }
        expect(refusal(await transition({ scenario, tenantId: "elsewhere" }))).toEqual([403, "tenant_mismatch"]);
      }
    });
  });
}
