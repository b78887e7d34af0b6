import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { InboxResponse } from "../../../src/protocol/gates/inbox-api.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { gateWorkflow, Member, openGate } from "../../../src/testing/inbox-client.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";

describe.each(HTTP_STORES)("an inbox with flags on %s", (_, open) => {
  let host: TestHost;
  let client: JudgmentClient;
  let drop: () => Promise<void>;
  let ana: Member;
  let runs: string[];

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    client = new JudgmentClient(host);
    ana = await Member.join(host, "ana");
    runs = [await client.ended(), await client.ended(), await client.ended()];
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const idsIn = ({ flagged = [] }: InboxResponse) => flagged.map(({ annotationId }) => annotationId);
  const openFlags = async () => idsIn(await ana.page("?flagged=true"));

  test("shows the open flags beside the gates, oldest first, until they are closed or withdrawn", async () => {
    const bot = await Member.join(host, "bot", { kind: "agent" });
    const gate = await openGate(host, await gateWorkflow(host));
    const first = await client.flag(runs[0] ?? "", "odd total");
    const json = { signal: { kind: "flag" }, target: { nodeId: "a" } };
    const second = await client.judge(runs[1] ?? "", json, bot.headers);
    await client.rate(runs[1] ?? "", 1);
    const page = await ana.page("?flagged=true");
    expect(page.items).toMatchObject([{ interruptId: gate.interruptId }]);
    expect(page.flagged).toEqual([
      {
        annotationId: first.annotationId,
        runId: runs[0],
        workflowId: "noop",
        actor: "ada",
        actorKind: "person",
        note: "odd total",
        createdAt: first.createdAt,
      },
      {
        annotationId: second.annotationId,
        runId: runs[1],
        workflowId: "noop",
        nodeId: "a",
        actor: "bot",
        actorKind: "agent",
        createdAt: second.createdAt,
      },
    ]);
    expect(await ana.page()).not.toHaveProperty("flagged");
    expect(await ana.page("?flagged=false")).not.toHaveProperty("flagged");
    await client.close(first.annotationId, ana.headers);
    expect(await openFlags()).toEqual([second.annotationId]);
    await client.retract(second.annotationId);
    expect(await openFlags()).toEqual([]);
    const third = await client.flag(runs[0] ?? "");
    await client.rate(runs[0] ?? "", 2, { supersedes: third.annotationId });
    expect(await openFlags()).toEqual([]);
    await ana.answer(gate.interruptId, { action: "accept" });
  });

  test("pages through flags and gates apart, each by its own cursor", async () => {
    const made: string[] = [];
    for (const runId of [...runs, ...runs]) made.push((await client.flag(runId)).annotationId);
    const workflowId = await gateWorkflow(host);
    const gates = [
      await openGate(host, workflowId),
      await openGate(host, workflowId),
      await openGate(host, workflowId),
    ];
    const found: string[] = [];
    let page = await ana.page("?flagged=true&limit=2");
    expect(page.items.map(({ interruptId }) => interruptId)).toEqual(gates.slice(0, 2).map((one) => one.interruptId));
    for (;;) {
      found.push(...idsIn(page));
      if (page.nextFlaggedCursor === undefined) break;
      page = await ana.page(`?flagged=true&limit=2&flaggedCursor=${page.nextFlaggedCursor}`);
      expect(page.items).toHaveLength(2);
    }
    expect(found).toEqual(made);
    const last = await ana.page(`?flagged=true&limit=2&cursor=${page.nextCursor}`);
    expect(last.items.map(({ interruptId }) => interruptId)).toEqual([gates[2]?.interruptId]);
    expect(idsIn(last)).toEqual(made.slice(0, 2));
    expectError(await ana.ask("GET", "/v1/host/assay/inbox?flagged=true&flaggedCursor=x"), "validation_error");
    expectError(await ana.ask("GET", "/v1/host/assay/inbox?flagged=perhaps"), "validation_error");
    expect(idsIn(await ana.page(`?flagged=true&runId=${runs[1]}`))).toEqual([made[1], made[4]]);
    expect(idsIn(await ana.page("?flagged=true&workflowId=other"))).toEqual([]);
    for (const id of made) await client.close(id);
  });

  test("shows the flags of the caller's tenant and workspace to those who may read them", async () => {
    const inEast = await client.flag(await client.ended("noop", bearer("east")), "east", bearer("east"));
    await client.flag(await client.ended("noop", bearer("other")), "other", bearer("other"));
    const seen = async (headers: Record<string, string>) =>
      (await host.ask("GET", "/v1/host/assay/inbox?flagged=true", { headers }))
        .json()
        .flagged.map(({ note }: { note: string }) => note);
    expect(await seen(bearer("east"))).toEqual(["east"]);
    expect(await seen(bearer("west"))).toEqual([]);
    expect(await seen(bearer("other"))).toEqual(["other"]);
    expect(await seen(ana.headers)).toEqual(["east"]);
    const decider = await Member.join(host, "dee", { scopes: ["approvals:respond"] });
    expect((await decider.ask("GET", "/v1/host/assay/inbox")).statusCode).toBe(200);
    expectError(await decider.ask("GET", "/v1/host/assay/inbox?flagged=true"), "forbidden");
    await client.close(inEast.annotationId, bearer("east"));
  });
});
