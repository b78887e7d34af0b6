import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GateSummaryResponse } from "../../../src/protocol/gates/inbox-api.ts";
import { parse } from "../../../src/protocol/schema.ts";
import { until } from "../../../src/testing/engine.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { gateWorkflow, Member, openGate } from "../../../src/testing/inbox-client.ts";

let host: TestHost;
let ana: Member;
let ben: Member;
let olga: Member;
let plain: string;
let governed: string;

const NOTHING = {
  opened: 0,
  decided: 0,
  rejected: 0,
  timedOut: 0,
  overridden: 0,
  medianSeconds: null,
  p95Seconds: null,
  underTenSeconds: 0,
  timeoutShare: null,
  overrideShare: null,
};

beforeAll(async () => {
  host = await testHost({ worker: true });
  ana = await Member.join(host, "ana");
  ben = await Member.join(host, "ben");
  olga = await Member.join(host, "olga", { roles: ["owner"] });
  plain = await gateWorkflow(host, { id: "plain" });
  governed = await gateWorkflow(host, {
    id: "governed",
    typeId: "core.openwop.governance.approvalGate",
    config: { requiredRole: "reviewer", quorum: 2, override: { requiredRole: "owner" } },
  });
  const [granted, rejected] = [await openGate(host, plain), await openGate(host, plain)];
  await ana.answer(granted.interruptId, { action: "accept" });
  await ben.answer(rejected.interruptId, { action: "reject" });
  await openGate(host, plain, bearer("east"));
  const late = await openGate(host, await gateWorkflow(host, { id: "late", config: { timeoutMs: 1 } }));
  await until(host.store, late.runId, ({ status }) => status === "failed");
  const override = { decision: "granted", override: true, reason: "it burns" };
  const [overridden, halfway] = [await openGate(host, governed), await openGate(host, governed)];
  expect(await olga.answer(overridden.interruptId, override)).toMatchObject({ ok: true, resolved: false });
  expect(await ana.answer(overridden.interruptId, { decision: "granted" })).toMatchObject({ outcome: "granted" });
  expect(await olga.answer(halfway.interruptId, override)).toMatchObject({ ok: true, resolved: false });
});
afterAll(() => host.close());

async function summary(query = "", headers: Record<string, string> = ana.headers) {
  const answer = await host.ask("GET", `/v1/host/assay/gates/summary${query}`, { headers });
  expect(answer.statusCode, answer.payload).toBe(200);
  return parse(GateSummaryResponse, answer.json(), "summary");
}

describe("the summary of gates", () => {
  test("tells how all of them fared", async () => {
    const { total, groups } = await summary();
    expect(groups).toEqual([]);
    expect(total).toMatchObject({ opened: 6, decided: 3, rejected: 1, timedOut: 1, overridden: 1 });
    expect(total).toMatchObject({ timeoutShare: 1 / 6, overrideShare: 1 / 3 });
    expect(total.underTenSeconds).toBeLessThanOrEqual(total.decided);
    expect(total.medianSeconds).toBeGreaterThanOrEqual(0);
    expect(total.p95Seconds).toBeGreaterThanOrEqual(total.medianSeconds ?? 0);
  });

  test("tells it by workflow, by node, by principal and by day", async () => {
    const keys = async (groupBy: string) =>
      (await summary(`?groupBy=${groupBy}`)).groups.map(({ key, opened, decided }) => [key, opened, decided]);
    expect(await keys("workflow")).toEqual([
      [{ workflowId: "governed" }, 2, 1],
      [{ workflowId: "late" }, 1, 0],
      [{ workflowId: "plain" }, 3, 2],
    ]);
    expect(await keys("node")).toEqual([
      [{ workflowId: "governed", nodeId: "gate" }, 2, 1],
      [{ workflowId: "late", nodeId: "gate" }, 1, 0],
      [{ workflowId: "plain", nodeId: "gate" }, 3, 2],
    ]);
    expect(await keys("principal")).toEqual([
      [{ principal: "ana" }, 2, 2],
      [{ principal: "ben" }, 1, 1],
      [{ principal: "olga" }, 2, 1],
    ]);
    const days = await keys("day");
    expect(days.length).toBeGreaterThan(0);
    for (const [key] of days) expect(key).toEqual({ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) });
  });

  test("counts an override for whoever took it, once the gate is decided", async () => {
    const { groups } = await summary(`?groupBy=principal&workflowId=${governed}`);
    expect(groups).toMatchObject([
      { key: { principal: "ana" }, overridden: 0, overrideShare: 0 },
      { key: { principal: "olga" }, overridden: 1, overrideShare: 1 },
    ]);
  });

  test("is of a workflow and of a time", async () => {
    expect((await summary(`?workflowId=${plain}`)).total).toMatchObject({ opened: 3 });
    expect((await summary("?workflowId=nothing")).total).toEqual(NOTHING);
    expect((await summary("?to=2020-01-01T00:00:00Z&groupBy=workflow")).total).toEqual(NOTHING);
    expect((await summary("?from=2020-01-01T00:00:00Z&to=2200-01-01T00:00:00%2B02:00")).total).toMatchObject({
      opened: 6,
    });
  });

  test("is of the caller's tenant and workspace, for whoever may read runs", async () => {
    expect((await summary("", bearer("east"))).total).toMatchObject({ opened: 1, decided: 0, timeoutShare: 0 });
    expect((await summary("", bearer("other"))).total).toEqual(NOTHING);
    expect((await summary("", bearer("viewer"))).total).toMatchObject({ opened: 6 });
    expectError(await host.ask("GET", "/v1/host/assay/gates/summary", { as: "stranger" }), "forbidden");
  });

  test("takes no time that is none, and no grouping it does not know", async () => {
    for (const query of ["?from=yesterday-at-noon-or-so", "?to=2027-02-30T00:00:00Z", "?groupBy=mood", "?limit=1"]) {
      expectError(await ana.ask("GET", `/v1/host/assay/gates/summary${query}`), "validation_error");
    }
  });
});
