import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seedKeys } from "../../../src/engine/identity/seed-keys.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";

const FILE = {
  olga: { key: "key-file-owner-olga", tenant: "t1", principal: "olga", roles: ["owner"] },
  wanda: { key: "key-file-owner-wanda", tenant: "t1", workspace: "w1", principal: "wanda", roles: ["owner"] },
  opal: { key: "key-file-of-the-tenant-opal", tenant: "t1", principal: "opal", roles: ["ops"] },
} as const;

/** Kinds of interrupts, with an answer that lets the run complete. */
const ASKS = {
  plain: ["core.approvalGate", {}, { action: "accept" }],
  question: ["core.clarificationGate", { questions: [{ id: "q", question: "Which?" }] }, { answers: { q: "this" } }],
  custom: ["core.interrupt", { kind: "custom", data: { customKind: "x" } }, { ok: true }],
} as const;

describe.each(HTTP_STORES)("a workspace that takes approvals:respond from a role of the tenant, on %s", (_, open) => {
  let host: TestHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    await seedKeys(host.host, Object.values(FILE) as never);
    const gates = new GateClient(host);
    for (const [id, [typeId, config]] of Object.entries(ASKS)) await gates.register(id, typeId, config);
    const scopes = ["runs:create", "runs:read", "approvals:respond"];
    await ask("POST", "/v1/host/assay/roles", "olga", { role: "ops", scopes });
    await ask("POST", "/v1/host/assay/roles", "wanda", { role: "ops", scopes: ["runs:read"] });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const ask = (method: "GET" | "POST", url: string, as: keyof typeof FILE, json?: unknown) =>
    host.ask(method, url, {
      headers: { authorization: `Bearer ${FILE[as].key}` },
      ...(json === undefined ? {} : { json }),
    });

  async function waiting(workflowId: string, as: keyof typeof FILE): Promise<string> {
    const { runId } = (await ask("POST", "/v1/runs", as, { workflowId })).json();
    for (;;) {
      const { status } = (await ask("GET", `/v1/runs/${runId}`, "olga")).json();
      if (status.startsWith("waiting-")) return runId;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  test.each(Object.entries(ASKS))(
    "has nobody of that role answer its runs (%s)",
    async (workflowId, [, , resumeValue]) => {
      const runId = await waiting(workflowId, "wanda");
      const vote = (as: keyof typeof FILE) => ask("POST", `/v1/runs/${runId}/interrupts/gate`, as, { resumeValue });
      const refused = await vote("opal");
      expect([refused.statusCode, refused.json().error]).toEqual([403, "forbidden"]);
      expect((await ask("GET", `/v1/runs/${runId}`, "opal")).body).not.toContain("interruptToken");
      expect((await ask("GET", `/v1/runs/${runId}`, "wanda")).body).toContain("interruptToken");
      expect((await ask("GET", "/v1/host/assay/inbox", "opal")).body).not.toContain(runId);
      expect((await vote("wanda")).statusCode).toBe(200);
    },
  );

  test("leaves runs outside of it to that role", async () => {
    const runId = await waiting("plain", "olga");
    expect((await ask("GET", "/v1/host/assay/inbox", "opal")).body).toContain(runId);
    const body = { resumeValue: ASKS.plain[2] };
    expect((await ask("POST", `/v1/runs/${runId}/interrupts/gate`, "opal", body)).statusCode).toBe(200);
  });
});
