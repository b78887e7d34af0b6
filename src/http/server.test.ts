import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "../protocol/operation.ts";
import { OPERATIONS, type OperationId } from "../protocol/operations.ts";
import { bearer, expectError, type TestHost, testHost } from "../testing/host.ts";
import type { HttpDeps } from "./pipeline/deps.ts";
import { fastifyPattern } from "./pipeline/read-url.ts";
import { handlers } from "./routes/routes.ts";

let host: TestHost;
beforeAll(async () => {
  host = await testHost();
});
afterAll(() => host.close());

describe("the routes", () => {
  test("are those of the operation table, each with one handler", () => {
    const reviews = { reviewers: [] };
    const parts = { audit: { verifier: {} }, events: {}, settings: {}, authorizer: {}, reviews };
    const evals = { settings: { maxTasksPerSuite: 1 } };
    const deps = { ...parts, evals, host: host.host } as unknown as HttpDeps;
    const made = handlers(deps, () => "hijacked");
    expect(Object.keys(made).sort()).toEqual(Object.keys(OPERATIONS).sort());
  });

  test.each(Object.entries(OPERATIONS) as [OperationId, Operation][])("mount %s", (_, { method, path }) => {
    expect(host.app.hasRoute({ method, url: fastifyPattern(path) })).toBe(true);
    if (method === "GET") expect(host.app.hasRoute({ method: "HEAD", url: fastifyPattern(path) })).toBe(true);
  });
});

describe("a path with a verb", () => {
  test.each(["clone", "unknown", "Pause", "pause:pause", ""])("is not found when the verb is %j", async (verb) => {
    const runId = await host.newRun();
    expectError(await host.ask("POST", `/v1/runs/${runId}:${verb}`, { json: {} }), "not_found");
    expectError(await host.ask("GET", `/v1/runs/${runId}:${verb}`), "not_found");
    expectError(await host.ask("GET", `/v1/runs/${runId}%3A${verb}`), "not_found");
  });

  test.each(["%3A", "%3a"])("is not found when the colon is escaped as %s: it belongs to the name", async (colon) => {
    const runId = await host.newRun();
    expectError(await host.ask("POST", `/v1/runs/${runId}${colon}pause`, { json: {} }), "not_found");
    expectError(await host.ask("POST", `/v1/runs/${runId}${colon}pause?x=:pause`, { json: {} }), "not_found");
  });

  test("is not the run before the verb when it is read", async () => {
    const runId = await host.newRun();
    const response = await host.ask("GET", `/v1/runs/${runId}:pause`);
    expectError(response, "method_not_allowed");
    expect(response.headers["allow"]).toBe("POST");
  });
});

describe("a path nobody serves", () => {
  test.each(["/v1/nothing", "/v1", "/v1/", "/v1/runs/", "/v1/runs/a/b/c", "/console/x"])(
    "%s is 404 without a key",
    async (url) => {
      expectError(await host.app.inject({ method: "GET", url }), "not_found");
      expectError(
        await host.app.inject({ method: "POST", url, headers: { "content-type": "///" }, payload: "x" }),
        "not_found",
      );
    },
  );

  test.each(["/runs", "/V1/runs", "/.well-known/other", "/favicon.ico", "//v1/runs", "/consolex"])(
    "%s is 400, because it is not versioned",
    async (url) => {
      expectError(await host.app.inject({ method: "GET", url }), "unversioned_path");
    },
  );

  test("is not repeated at length", async () => {
    const response = await host.app.inject({ method: "GET", url: `/${"x".repeat(5000)}` });
    expectError(response, "unversioned_path");
    expect(response.payload.length).toBeLessThan(1000);
  });

  test("that cannot be decoded is 400", async () => {
    expectError(await host.ask("GET", "/v1/runs/%zz"), "validation_error");
  });

  test("with an id longer than any is 404", async () => {
    expectError(await host.ask("GET", `/v1/runs/${"a".repeat(1000)}`), "not_found");
  });
});

describe("a known path with another method", () => {
  test.each([
    ["DELETE", "/v1/runs", "GET, HEAD, POST"],
    ["OPTIONS", "/v1/runs", "GET, HEAD, POST"],
    ["PUT", "/v1/runs/run-1", "GET, HEAD"],
    ["GET", "/v1/runs/run-1/cancel", "POST"],
    ["POST", "/.well-known/openwop", "GET, HEAD"],
    ["POST", "/healthz", "GET, HEAD"],
  ] as const)("%s %s is 405 and says what is allowed", async (method, url, allowed) => {
    const response = await host.ask(method, url);
    expect(expectError(response, "method_not_allowed")).toMatchObject({ allowed });
    expect(response.headers["allow"]).toBe(allowed);
  });

  test("is 404 while its capability is off", async () => {
    const bare = await testHost({ capabilities: [] });
    expectError(await bare.ask("GET", "/v1/runs/run-1:pause"), "not_found");
    await bare.close();
  });
});

describe("HEAD", () => {
  test.each(["/.well-known/openwop", "/v1/runs", "/healthz", "/v1/host/assay/whoami"])(
    "%s has the headers of GET and no body",
    async (url) => {
      const [head, get] = [await host.ask("HEAD", url), await host.ask("GET", url)];
      expect({ status: head.statusCode, length: head.headers["content-length"], body: head.payload }).toEqual({
        status: get.statusCode,
        length: get.headers["content-length"],
        body: "",
      });
    },
  );

  test("of an event stream ends at once", async () => {
    const response = await host.ask("HEAD", `/v1/runs/${await host.newRun()}/events`);
    expect(response.statusCode).toBe(200);
    expect(response.headers["content-type"]).toBe("text/event-stream");
  });
});

describe("every answer", () => {
  test.each(["/v1/runs", "/v1/nothing", "/healthz", "/nowhere", "/v1/openapi.json"])(
    "to %s carries a request id and is never sniffed",
    async (url) => {
      const { headers } = await host.ask("GET", url);
      expect(headers["x-request-id"]).toMatch(/^req-[0-9a-z]{26}$/);
      expect(headers["x-content-type-options"]).toBe("nosniff");
    },
  );

  test("of a route that may write by itself has each header once", async () => {
    const url = `${await host.listen()}/v1/runs/${await host.newRun()}/events`;
    for (const accept of ["application/json", "text/event-stream"]) {
      const aborted = new AbortController();
      const response = await fetch(url, { headers: { ...bearer("owner"), accept }, signal: aborted.signal });
      expect(response.headers.get("x-request-id")).toMatch(/^req-[0-9a-z]{26}$/);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("cache-control")).toMatch(/^no-(store|cache)$/);
      aborted.abort();
    }
  });

  test("repeats a harmless request id of the caller", async () => {
    const { headers } = await host.ask("GET", "/v1/runs", { headers: { "x-request-id": "trace-7.a_B" } });
    expect(headers["x-request-id"]).toBe("trace-7.a_B");
  });

  test.each(["has space", "a".repeat(129), 'quote"', "ünï"])("replaces the request id %j", async (id) => {
    const { headers } = await host.ask("GET", "/v1/runs", { headers: { "x-request-id": id } });
    expect(headers["x-request-id"]).toMatch(/^req-/);
  });

  test("to a caller with a key is not stored by anybody on the way", async () => {
    expect((await host.ask("GET", "/v1/runs")).headers["cache-control"]).toBe("no-store");
    expect((await host.ask("GET", "/v1/runs/none")).headers["cache-control"]).toBe("no-store");
  });
});
