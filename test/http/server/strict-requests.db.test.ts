import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { rawHttp } from "../../../src/testing/raw-http.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const KEY_ROUTE = "/v1/host/assay/keys";
const ROLES = "/v1/host/assay/roles";
const AUDIT = "/v1/host/assay/audit/entries";

describe.each(HTTP_STORES)("on %s", (_name, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;
  let url: string;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store });
    url = await host.listen();
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const keysOf = async (principal: string) =>
    (await host.ask("GET", KEY_ROUTE)).json().keys.filter((key: { principal: string }) => key.principal === principal);

  describe("a key that is made under an Idempotency-Key", () => {
    const headers = { "idempotency-key": "make-ci" };
    const json = { principal: "ci", kind: "agent" };

    test("is made once, and a repetition gets the same key", async () => {
      const first = await host.ask("POST", KEY_ROUTE, { json, headers });
      const again = await host.ask("POST", KEY_ROUTE, { json, headers });
      expect(first.statusCode).toBe(201);
      expect(again).toMatchObject({ statusCode: 201, payload: first.payload });
      expect(again.headers["openwop-idempotent-replay"]).toBe("true");
      expect(await keysOf("ci")).toHaveLength(1);
      const { key } = first.json();
      const whoami = await host.ask("GET", "/v1/host/assay/whoami", { headers: { authorization: `Bearer ${key}` } });
      expect(whoami.json()).toMatchObject({ principal: "ci", roles: ["viewer"] });
    });

    test("is nowhere in the database as itself, and another API key does not get it", async () => {
      const first = await host.ask("POST", KEY_ROUTE, { json, headers });
      const { key } = first.json();
      const digest = { tenant: "acme", operation: `POST ${KEY_ROUTE}`, key: "make-ci" };
      const record = await host.host.store.readIdempotency({ ...digest, tenant: first.json().info.tenant }, Date.now());
      expect(record?.response?.status).toBe(201);
      expect(record?.response?.body).toMatch(/^sealed:/);
      expect(record?.response?.body).not.toContain(key);
      const other = (await host.ask("POST", KEY_ROUTE, { json: { principal: "olga-2", roles: ["owner"] } })).json();
      const asOther = await host.ask("POST", KEY_ROUTE, {
        json,
        headers: { ...headers, authorization: `Bearer ${other.key}` },
      });
      expectError(asOther, "idempotency_key_mismatch");
      expect(asOther.payload).not.toContain(key);
    });

    test("is refused with another wish under the same Idempotency-Key", async () => {
      const answer = await host.ask("POST", KEY_ROUTE, { json: { ...json, roles: ["owner"] }, headers });
      expectError(answer, "idempotency_key_mismatch");
    });
  });

  test("twenty requests at once under one Idempotency-Key make one key", async () => {
    const headers = { "idempotency-key": "race" };
    const ask = () => host.ask("POST", KEY_ROUTE, { json: { principal: "racer" }, headers });
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    expect(new Set(answers.map(({ payload }) => payload)).size).toBe(1);
    expect(await keysOf("racer")).toHaveLength(1);
  });

  test("a role of the tenant is not removed with a key of a workspace, and nothing is audited as removed", async () => {
    await host.ask("POST", ROLES, { json: { role: "wide", scopes: ["runs:read"] } });
    expectError(await host.ask("DELETE", `${ROLES}/wide`, { as: "east" }), "not_found");
    expectError(await host.ask("DELETE", `${ROLES}/wide?workspace=east`), "not_found");
    const { entries } = (await host.ask("GET", AUDIT)).json();
    const removals = entries.filter((entry: { action: string }) => entry.action === "role.removed");
    expect(removals).toEqual([]);
    expect((await host.ask("DELETE", `${ROLES}/wide`)).statusCode).toBe(204);
  });

  test.each(["host", "SYSTEM", " token", "ｈｏｓｔ", "assay:sweeper", "sys\u200btem"])(
    "no key is made for %j, a name of the host's own",
    async (principal) => {
      const answer = await host.ask("POST", KEY_ROUTE, { json: { principal } });
      expectError(answer, "validation_error");
      expect(await keysOf(principal)).toEqual([]);
    },
  );

  test.each([
    [KEY_ROUTE, '{"principal":"dup","roles":["viewer"],"roles":["owner"]}', "roles"],
    [ROLES, '{"role":"dup","scopes":[],"\\u0073copes":["*"]}', "scopes"],
    [
      "/v1/workflows",
      JSON.stringify(workflow({ id: "dup", nodes: { a: "core.noop" } })).replace("{", '{"id":"x",'),
      "id",
    ],
    ["/v1/runs", '{"workflowId":"noop","inputs":{"a":1,"a":2}}', "a"],
  ])("a body for %s with a member twice is refused by its name", async (path, payload, member) => {
    const headers = { "content-type": "application/json", ...bearer("owner") };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: payload });
    expect(answer.status).toBe(400);
    const { error, message } = (await answer.json()) as { error: string; message: string };
    expect([error, message]).toEqual(["validation_error", expect.stringContaining(`"${member}" twice`)]);
    expect(await keysOf("dup")).toEqual([]);
  });

  test.each([10, 400, 1200, 1600, 3000])(
    "a second Authorization after %i other header lines is refused",
    async (lines) => {
      const { authorization } = bearer("owner");
      const head = [
        "GET /v1/host/assay/whoami HTTP/1.1",
        "Host: h",
        `Authorization: ${authorization}`,
        ...Array.from({ length: lines }, () => "a:"),
        `Authorization: ${bearer("viewer").authorization}`,
        "Connection: close",
      ];
      const answer = await rawHttp(url, (socket) => void socket.write(`${head.join("\r\n")}\r\n\r\n`));
      expect(answer.status).toBe(400);
      expect(answer.body).toMatch(/more than one Authorization header|more than 500 header lines/);
    },
  );
});
