import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { createDatabase, type TestDatabase } from "../../../src/testing/postgres.ts";

let database: TestDatabase;
let hosts: TestHost[];
let urls: string[];
beforeAll(async () => {
  database = await createDatabase();
  hosts = [];
  for (let i = 0; i < 2; i++) hosts.push(await testHost({ store: await openPostgresStore({ url: database.url }) }));
  urls = await Promise.all(hosts.map((host) => host.listen()));
});
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  await database.drop();
});

/** The hosts in turn. */
const post = (i: number, path: string, key: string, body: string) =>
  fetch(`${urls[i % urls.length]}${path}`, {
    method: "POST",
    headers: { ...bearer("owner"), "content-type": "application/json", "idempotency-key": key },
    body,
  });

describe("two hosts on one PostgreSQL", () => {
  test.each([1, 2, 3, 4, 5])("make one run of twenty requests with one key (%i)", async (round) => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, i) => post(i, "/v1/runs", `same-${round}`, '{"workflowId":"noop"}')),
    );
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 201));
    expect(new Set(bodies).size).toBe(1);
    expect(Object.values((await hosts[0]?.store.countRuns()) ?? {})).toEqual([round]);
  });

  test("notice a key that the other revoked", async () => {
    const [here, there] = hosts as [TestHost, TestHost];
    const made = await here.ask("POST", "/v1/host/assay/keys", { json: { principal: "zoe" } });
    const { key, info } = made.json();
    const headers = { authorization: `Bearer ${key}` };
    expect(await there.ask("GET", "/v1/host/assay/whoami", { headers })).toMatchObject({ statusCode: 200 });
    await here.ask("POST", `/v1/host/assay/keys/${info.keyId}:revoke`);
    await expect
      .poll(async () => (await there.ask("GET", "/v1/host/assay/whoami", { headers })).statusCode, { timeout: 10_000 })
      .toBe(401);
  });

  test("take no text that PostgreSQL could not keep", async () => {
    const [host] = hosts as [TestHost];
    expectError(await host.ask("GET", "/v1/workflows/a%00b"), "not_found");
    expectError(await host.ask("GET", "/v1/runs?workflowId=a%00b"), "validation_error");
    const json = { workflowId: "noop", scopeId: "a\u0000b", inputs: { a: "\u0000" } };
    expectError(await host.ask("POST", "/v1/runs", { json, headers: { "x-dedup": "enforce" } }), "validation_error");
  });
});
