import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ErrorCode } from "../../../src/protocol/errors.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

describe("annotations that are switched off", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await testHost({ capabilities: ["pauseResume"] });
  });
  afterAll(() => host.close());

  const ROUTES: readonly ["GET" | "POST", string][] = [
    ["GET", "/v1/runs/RUN/annotations"],
    ["POST", "/v1/runs/RUN/annotations"],
    ["POST", "/v1/host/assay/runs/RUN/annotations"],
    ["GET", "/v1/host/assay/annotations"],
    ["GET", "/v1/host/assay/annotations/events"],
    ["GET", "/v1/host/assay/annotations/ann-1"],
    ["POST", "/v1/host/assay/annotations/ann-1:retract"],
    ["POST", "/v1/host/assay/annotations/ann-1:close"],
  ];

  test.each(ROUTES)("%s %s: 401 without a key, and then 501 before scope, look-up and body", async (method, path) => {
    const ask = (code: ErrorCode, runId: string, body: string | undefined, headers = {}) => {
      const json = body === undefined ? {} : { body };
      return host.ask(method, path.replace("RUN", runId), { ...json, headers }).then((one) => expectError(one, code));
    };
    const own = await host.newRun();
    const body = method === "POST" ? "{broken" : undefined;
    await ask("unauthenticated", own, body, { authorization: "Bearer no-such-key-at-all" });
    await ask("unauthenticated", own, body, { authorization: "" });
    for (const runId of [own, "run-unknown"]) {
      for (const who of ["owner", "stranger", "other"] as const) {
        const details = await ask("capability_not_provided", runId, body, bearer(who));
        expect(details).toMatchObject({ capability: "feedback" });
      }
    }
  });

  test("are not in discovery, and the inbox has no flags", async () => {
    expect((await host.ask("GET", "/.well-known/openwop")).json()).not.toHaveProperty("feedback");
    expectError(await host.ask("GET", "/v1/host/assay/inbox?flagged=true"), "capability_not_provided");
    expect((await host.ask("GET", "/v1/host/assay/inbox")).statusCode).toBe(200);
  });
});
