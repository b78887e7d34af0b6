import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuditVerifyResult } from "../../../src/protocol/audit/audit.ts";
import { KeyInfo, WhoAmIResponse } from "../../../src/protocol/identity/api.ts";
import { OPERATIONS } from "../../../src/protocol/operations.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { artifactWrite } from "../../../src/testing/builders.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  host = await testHost();
});
afterAll(() => host.close());

describe("an artifact", () => {
  const read = async (contentType: string) => {
    const runId = await host.newRun();
    await host.store.commit({ tenant: "t1", artifacts: [artifactWrite(runId, { contentType })] });
    return host.ask("GET", `/v1/runs/${runId}/artifacts/report`);
  };

  test("is a download with the bytes and the type it was stored with", async () => {
    const response = await read("image/png");
    expect(response.rawPayload).toEqual(Buffer.from(artifactWrite("run").body));
    expect(response.headers).toMatchObject({
      "content-type": "image/png",
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("sandbox"),
      "cache-control": "no-store",
    });
  });

  test.each(["text/html\r\nset-cookie: a=b", "no type at all", "", "a".repeat(300)])(
    "whose type is %j is only bytes",
    async (contentType) => {
      const response = await read(contentType);
      expect(response.headers["content-type"]).toBe("application/octet-stream");
      expect(response.headers["set-cookie"]).toBeUndefined();
    },
  );

  test("that was never made is not found", async () => {
    expectError(await host.ask("GET", `/v1/runs/${await host.newRun()}/artifacts/none`), "not_found");
  });
});

describe("the audit chain", () => {
  test("verifies, and repeats the range it was asked for", async () => {
    await host.newRun();
    const response = await host.ask("GET", "/v1/audit/verify?fromSeq=0&toSeq=100000");
    expect(matches(AuditVerifyResult, response.json())).toBe(true);
    expect(response.json()).toMatchObject({ fromSeq: 0, toSeq: 100_000, chainValid: true, anomalies: [] });
  });

  test.each(["", "?fromSeq=0", "?fromSeq=-1&toSeq=2", "?fromSeq=3&toSeq=2", "?fromSeq=a&toSeq=2"])(
    "refuses the range %j",
    async (query) => {
      expectError(await host.ask("GET", `/v1/audit/verify${query}`), "validation_error");
    },
  );

  test("can be copied page by page without a gap", async () => {
    for (let i = 0; i < 5; i++) await host.newRun();
    const seen: number[] = [];
    let from: number | undefined = 1;
    while (from !== undefined) {
      const response = await host.ask("GET", `/v1/host/assay/audit/entries?limit=3&fromSeq=${from}`);
      expect(matches(OPERATIONS.listAuditEntries.success.schema, response.json())).toBe(true);
      seen.push(...response.json().entries.map((entry: { atSequence: number }) => entry.atSequence));
      from = response.json().nextSeq;
    }
    expect(seen.length).toBeGreaterThan(5);
    expect(seen).toEqual(seen.map((_, i) => i + 1));
  });

  test("records who made a run", async () => {
    const runId = await host.newRun();
    const { entries } = (await host.ask("GET", "/v1/host/assay/audit/entries?limit=1000")).json();
    expect(entries.find((entry: { target: string }) => entry.target === runId)).toMatchObject({
      action: "run.created",
      actor: "ada",
    });
  });
});

describe("keys", () => {
  test("say who they speak for", async () => {
    const response = await host.ask("GET", "/v1/host/assay/whoami", { as: "east" });
    expect(matches(WhoAmIResponse, response.json())).toBe(true);
    expect(response.json()).toMatchObject({ tenant: "t1", workspace: "east", principal: "eve", scopes: ["*"] });
  });

  test("are shown once, and listed without themselves", async () => {
    const json = { principal: "ivy", roles: ["viewer"], label: "laptop" };
    const made = await host.ask("POST", "/v1/host/assay/keys", { json });
    expect(made).toMatchObject({ statusCode: 201 });
    const { key, info } = made.json();
    const listed = await host.ask("GET", "/v1/host/assay/keys");
    expect(listed.json().keys.every((one: unknown) => matches(KeyInfo, one))).toBe(true);
    expect(listed.json().keys).toContainEqual(expect.objectContaining({ keyId: info.keyId, label: "laptop" }));
    expect(listed.payload).not.toContain(key);
    expect(listed.payload).not.toContain("hash");
    const again = await host.ask("POST", "/v1/host/assay/keys", { json });
    expect(again.json().key).not.toBe(key);
  });

  test("end when they are revoked, and stay so", async () => {
    const { info } = (await host.ask("POST", "/v1/host/assay/keys", { json: { principal: "kim" } })).json();
    const headers = { "idempotency-key": "revoke-kim" };
    const revoke = () => host.ask("POST", `/v1/host/assay/keys/${info.keyId}:revoke`, { headers });
    const first = await revoke();
    expect(matches(KeyInfo, first.json())).toBe(true);
    expect(first.json().revokedAt).toBeDefined();
    expect((await revoke()).payload).toBe(first.payload);
  });
});
