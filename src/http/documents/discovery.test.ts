import { afterEach, describe, expect, test } from "vitest";
import { Discovery } from "../../protocol/discovery.ts";
import { parse } from "../../protocol/schema.ts";
import { type TestHost, type TestHostOptions, testHost } from "../../testing/host.ts";

let host: TestHost;
afterEach(() => host.close());

async function discovered(options: TestHostOptions = {}): Promise<Discovery> {
  host = await testHost(options);
  const response = await host.app.inject({ method: "GET", url: "/.well-known/openwop" });
  expect(response.statusCode).toBe(200);
  return parse(Discovery, response.json(), "discovery");
}

describe("discovery", () => {
  test("needs no key, may be cached and can be asked about", async () => {
    await discovered();
    const read = (headers = {}) => host.app.inject({ method: "GET", url: "/.well-known/openwop", headers });
    const first = await read();
    expect(first.headers).toMatchObject({
      "content-type": "application/json",
      "cache-control": "public, max-age=300",
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
    });
    expect(await read({ "if-none-match": first.headers["etag"] })).toMatchObject({ statusCode: 304, payload: "" });
    expect(await read({ "if-none-match": '"other"' })).toMatchObject({ statusCode: 200 });
  });

  test("advertises what is enforced, with the values that are", async () => {
    const limits = { maxNodeExecutions: 77, maxRunDurationMs: 5000 };
    const document = await discovered({ host: { limits }, settings: { maxRequestBodyBytes: 2048 } });
    expect(document.limits).toEqual({
      clarificationRounds: 3,
      schemaRounds: 2,
      envelopesPerTurn: 5,
      maxNodeExecutions: 77,
      maxRunDurationMs: 5000,
      maxRequestBodyBytes: 2048,
    });
    const tooLarge = await host.ask("POST", "/v1/runs", { body: " ".repeat(2049) });
    expect(tooLarge.json()).toMatchObject({ error: "payload_too_large", details: { limitBytes: 2048 } });
    expect(document.runs?.pauseResume.drainPolicies).toEqual(["immediate", "drain-current-node"]);
    expect(document.auth.profiles).toEqual(["openwop-audit-log-integrity"]);
    const { publicKey } = (await host.ask("GET", "/v1/host/assay/audit/entries")).json();
    expect(document.auth.auditLogIntegrity?.checkpointPublicKey).toBe(publicKey);
    expect(document.idempotency.layer1RetentionSeconds).toBe(host.host.idempotency.retentionMs / 1000);
  });

  test("says nothing about what is off or not there", async () => {
    const document = await discovered({ capabilities: [] });
    expect(document.runs).toBeUndefined();
    expect(document.auth).toEqual({ profiles: [] });
    expect(document.fixtures).toBeUndefined();
    for (const family of ["feedback", "replay", "webhooks", "agents", "multiAgent", "modelCapabilities", "secrets"]) {
      expect(document).not.toHaveProperty(family);
    }
  });

  test("says how agents are evaluated, in the modes that can be served", async () => {
    const { agents } = await discovered({});
    expect(agents?.evalSuite).toEqual({
      supported: true,
      modes: ["golden", "adversarial", "regression", "live-shadow"],
      maxTasksPerSuite: 10_000,
    });
    const off = await discovered({ capabilities: ["agents"] });
    expect(off.agents).not.toHaveProperty("evalSuite");
  });

  test("says what supervisors and models can do, and of secrets only where there are any", async () => {
    const model = { provider: "acme", model: "m-1", capabilities: new Set(["vision-input", "reasoning"]) };
    const document = await discovered({ host: { model } });
    expect(document.agents).toMatchObject({ orchestrator: true, dispatch: true, dispatchMapping: true });
    expect(document.multiAgent?.executionModel).toEqual({
      supported: true,
      version: 2,
      confidenceEscalationFloor: 0.5,
      confidenceEscalationInterruptKind: "clarification",
      crossChildMemoryConcurrency: "strict",
    });
    expect(document.modelCapabilities?.advertised).toEqual(["reasoning", "vision-input"]);
    expect(document.subWorkflow).toEqual({ inputMapping: true });
    expect(document.secrets).toBeUndefined();
    const secrets = (await discovered({ capabilities: ["secrets"] })).secrets;
    expect(secrets).toEqual({ supported: true, scopes: ["tenant"], resolution: "host-managed" });
  });

  test("never holds the token that the suite looks for", async () => {
    expect(JSON.stringify(await discovered({ deps: { fixtures: async () => ["noop"] } }))).not.toContain('"edit"');
  });

  test("lists fixtures while the seams are on, as they are at that moment", async () => {
    const ids = ["noop"];
    const document = await discovered({ deps: { fixtures: async () => ids } });
    expect(document.fixtures).toEqual(["noop"]);
    ids.push("another");
    const again = await host.app.inject({ method: "GET", url: "/.well-known/openwop" });
    expect(again.json().fixtures).toEqual(["noop", "another"]);
  });

  test("does not list them otherwise", async () => {
    const deps = { fixtures: async () => ["noop"] };
    expect((await discovered({ capabilities: ["pauseResume"], deps })).fixtures).toBeUndefined();
  });
});

describe("the API documents", () => {
  test.each(["/v1/openapi.json", "/v1/asyncapi.json"])("%s is public and can be asked about", async (url) => {
    host = await testHost();
    const first = await host.app.inject({ method: "GET", url });
    expect(first.statusCode).toBe(200);
    expect(first.json().info.version).toBe("0.0.0-test");
    const headers = { "if-none-match": String(first.headers["etag"]) };
    expect(await host.app.inject({ method: "GET", url, headers })).toMatchObject({ statusCode: 304 });
  });
});
