import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import { matches } from "../../protocol/schema.ts";
import { until } from "../../testing/engine.ts";
import { expectError, type TestHost, testHost } from "../../testing/host.ts";

const SEAMS = "/v1/host/sample";
let host: TestHost;
beforeAll(async () => {
  host = await testHost({ worker: true });
});
afterAll(() => host.close());

describe("the event-log seam", () => {
  test("answers the suite's probe with an empty log", async () => {
    expect((await host.ask("GET", `${SEAMS}/test/runs/__probe__/events`)).json()).toEqual({ events: [] });
  });

  test("gives the log as every other surface does, filtered as asked", async () => {
    const runId = await host.newRun();
    await until(host.store, runId, (run) => run.status === "completed");
    const read = async (query = "") =>
      (await host.ask("GET", `${SEAMS}/test/runs/${runId}/events${query}`)).json().events;
    const polled = (await host.ask("GET", `/v1/runs/${runId}/events/poll`)).json().events;
    expect(await read()).toEqual(polled);
    expect(await read("?type=node.completed")).toMatchObject([{ type: "node.completed", nodeId: "a" }]);
    expect(await read("?nodeId=a&type=run.started")).toEqual([]);
    expect(await read("?correlationId=x")).toEqual([]);
    expect(await read("?whatever=x")).toEqual(polled);
  });
});

describe("the seam of spans", () => {
  test("gives those of the debug bundle, to those who see the run", async () => {
    const runId = await host.newRun();
    await until(host.store, runId, (run) => run.status === "completed");
    const spans = async (as: "owner" | "other" = "owner") =>
      (await host.ask("GET", `${SEAMS}/test/otel/spans?runId=${runId}`, { as })).json().spans;
    const bundle = (await host.ask("GET", `/v1/runs/${runId}/debug-bundle`)).json();
    expect(await spans()).toEqual(bundle.spans);
    expect(await spans()).toMatchObject([
      { name: "openwop.run", status: { code: "ok" } },
      { name: "openwop.node.core.noop" },
    ]);
    expect(await spans("other")).toEqual([]);
    expectError(await host.ask("GET", `${SEAMS}/test/otel/spans`), "validation_error");
  });
});

describe("the other seams", () => {
  test("decide as the host decides", async () => {
    const decide = async (principal: string, action: string) =>
      (await host.ask("POST", `${SEAMS}/authorization/decide`, { json: { principal, action, resource: "r" } })).json();
    expect(await decide("ada", "runs:create")).toEqual({ allowed: true });
    expect(await decide("vic", "runs:read")).toEqual({ allowed: true });
    expect(await decide("vic", "runs:create")).toMatchObject({ allowed: false });
    expect(await decide("sam", "runs:read")).toMatchObject({ allowed: false });
    expect(await decide("nobody", "runs:read")).toMatchObject({ allowed: false });
    expect(await decide("bob", "runs:read")).toMatchObject({ allowed: false });
  });

  test("show a run the caller owns, made if need be", async () => {
    const response = await host.ask("GET", `${SEAMS}/identity/owned-run`, { as: "other" });
    expect(matches(RunSnapshot, response.json())).toBe(true);
    expect(response.json().owner).toEqual({ tenant: "t2", principal: "bob" });
  });

  test.each(["owner", "east"] as const)("never read across workspaces, as %s", async (as) => {
    expectError(await host.ask("POST", `${SEAMS}/identity/cross-workspace-read`, { as, json: {} }), "not_found");
  });

  test("can be reset", async () => {
    expect(await host.ask("POST", `${SEAMS}/test/reset`)).toMatchObject({ statusCode: 200 });
  });
});
