import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";

describe("a host where forks and diffs are switched off", () => {
  let host: TestHost;
  let runId: string;
  beforeAll(async () => {
    host = await testHost({ capabilities: ["pauseResume"] });
    runId = await host.newRun();
  });
  afterAll(() => host.close());

  test("has no such routes, for a run that is there as for one that is not", async () => {
    for (const id of [runId, "run-00000000000000000000000000"]) {
      const json = { mode: "replay" };
      expectError(await host.ask("POST", `/v1/runs/${id}:fork`, { json }), "not_found");
      expectError(await host.ask("POST", `/v1/host/assay/runs/${id}:fork`, { json }), "not_found");
      expectError(await host.ask("GET", `/v1/runs/${id}:diff?against=${runId}`), "not_found");
    }
  });

  test("does not say that it had them", async () => {
    expect((await host.app.inject("/.well-known/openwop")).json()).not.toHaveProperty("replay");
  });
});

describe("a host where forks are served", () => {
  test("says in which modes, and that effects are not repeated", async () => {
    const host = await testHost();
    expect((await host.app.inject("/.well-known/openwop")).json().replay).toEqual({
      supported: true,
      modes: ["replay", "branch"],
      sideEffectSuppression: "recorded-outcome",
    });
    await host.close();
  });
});
