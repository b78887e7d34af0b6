import { afterEach, describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { expectError, type TestHost, type TestHostOptions, testHost } from "../../testing/host.ts";

let host: TestHost;
async function start(options?: TestHostOptions): Promise<void> {
  host = await testHost(options);
}
afterEach(() => host.close());

const BAD = { body: "{", headers: {} } as const;

describe("the order of checks", () => {
  test("an unknown caller learns nothing else", async () => {
    await start({ capabilities: [], settings: { rateLimit: 1 } });
    const headers = { authorization: "Bearer nobody-knows-this-key" };
    for (let i = 0; i < 3; i++) {
      expectError(await host.ask("POST", "/v1/runs/none:pause", { ...BAD, headers }), "unauthenticated");
    }
  });

  test("a key that asks too often is told before anything is looked at", async () => {
    await start({ capabilities: [], settings: { rateLimit: 1 } });
    await host.ask("GET", "/v1/runs", { as: "stranger" });
    const response = await host.ask("POST", "/v1/runs/none/annotations", { as: "stranger", ...BAD });
    expect(expectError(response, "rate_limited")).toMatchObject({
      scope: "key",
      limit: 1,
      retryAfterMs: expect.any(Number),
    });
    expect(response.headers["retry-after"]).toBe("1");
    expect(await host.ask("GET", "/v1/host/assay/whoami", { as: "owner" })).toMatchObject({ statusCode: 200 });
  });

  test("what is not served is not served to anybody", async () => {
    await start({ capabilities: [] });
    expectError(
      await host.ask("POST", "/v1/runs/none/annotations", { as: "stranger", ...BAD }),
      "capability_not_provided",
    );
    expectError(await host.ask("POST", "/v1/runs/none:pause", { as: "stranger", ...BAD }), "not_found");
    expectError(await host.ask("GET", "/v1/audit/verify?fromSeq=x", { as: "stranger" }), "not_found");
    expectError(await host.ask("GET", "/v1/host/sample/test/runs/__probe__/events"), "not_found");
  });

  test("who may not do it is not told whether the run exists", async () => {
    await start();
    const runId = await host.newRun();
    for (const id of [runId, "none"]) {
      expectError(await host.ask("POST", `/v1/runs/${id}/cancel`, { as: "viewer", ...BAD }), "forbidden");
    }
  });

  test("a run that is not there is missed before the body is read", async () => {
    await start();
    expectError(await host.ask("POST", "/v1/runs/none/cancel", BAD), "not_found");
    expectError(await host.ask("POST", "/v1/runs/none:pause", { json: { drainPolicy: "no" } }), "not_found");
    expectError(await host.ask("GET", "/v1/runs/none/events/poll?timeout=x"), "not_found");
  });

  test("a body that makes no sense is refused before the state is looked at", async () => {
    await start();
    const runId = await host.newRun();
    await host.ask("POST", `/v1/runs/${runId}/cancel`);
    expectError(await host.ask("POST", `/v1/runs/${runId}:pause`, { json: { drainPolicy: "no" } }), "validation_error");
    expect(expectError(await host.ask("POST", `/v1/runs/${runId}:pause`), "run_terminal")).toMatchObject({
      runStatus: "cancelled",
    });
  });
});

describe("an error that nobody foresaw", () => {
  const secret = "password=hunter2 at /srv/assay/db";

  test("is logged whole and told as nothing but an id", async () => {
    await start();
    host.store.listRuns = () => Promise.reject(new Error(secret));
    const response = await host.ask("GET", "/v1/runs", { headers: { "x-request-id": "trace-1" } });
    expect(expectError(response, "internal_error")).toEqual({ correlationId: "trace-1" });
    expect(response.payload).not.toContain("hunter2");
    const line = host.logged.find(({ level }) => level === "error");
    expect(line).toMatchObject({ requestId: "trace-1", err: { message: secret } });
  });

  test("is told the same way when it is one of ours that clients never see", async () => {
    await start();
    host.store.listRuns = () => Promise.reject(new AppError("database_in_use", { path: secret, pid: 1, host: "h" }));
    const response = await host.ask("GET", "/v1/runs");
    expectError(response, "internal_error");
    expect(response.payload).not.toContain("hunter2");
  });

  test("of a database that is away is 503 with a time to wait", async () => {
    await start();
    host.store.listRuns = () => Promise.reject(new AppError("unavailable", { reason: "The database does not answer" }));
    const response = await host.ask("GET", "/v1/runs");
    expectError(response, "unavailable");
    expect(response.headers["retry-after"]).toBe("1");
  });
});

describe("the log of requests", () => {
  test("has one line per authenticated request, and nothing of what was sent", async () => {
    await start();
    host.logged.length = 0;
    await host.ask("POST", "/v1/runs?token=in-the-query", {
      json: { workflowId: "noop", inputs: { pin: "in-the-body" } },
      headers: { "idempotency-key": "in-the-header", "x-request-id": "trace-2" },
    });
    await host.ask("GET", "/v1/runs/none");
    await host.app.inject({ method: "GET", url: "/v1/runs" });
    await host.app.inject({ method: "GET", url: "/v1/openapi.json" });
    expect(host.logged).toEqual([
      {
        level: "info",
        message: "request",
        requestId: "trace-2",
        keyId: expect.stringMatching(/^key-/),
        tenant: "t1",
        principal: "ada",
        scope: "runs:create",
        method: "POST",
        route: "/v1/runs",
        path: "/v1/runs",
        status: 201,
        latencyMs: expect.any(Number),
      },
      expect.objectContaining({ route: "/v1/runs/{runId}", path: "/v1/runs/none", status: 404 }),
    ]);
  });
});
