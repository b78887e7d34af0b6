import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { gateWorkflow, Member, openGate } from "../../../src/testing/inbox-client.ts";

let host: TestHost;
let ana: Member;
let ben: Member;
beforeAll(async () => {
  host = await testHost({ worker: true });
  ana = await Member.join(host, "ana");
  ben = await Member.join(host, "ben");
});
afterAll(() => host.close());

/** Only what the test itself opened. */
async function idsFor(member: Member, workflowId: string): Promise<string[]> {
  return (await member.inbox(`?workflowId=${workflowId}`)).map(({ interruptId }) => interruptId);
}

describe("the inbox", () => {
  test("lists what waits for a decision, oldest first, with everything one needs to know", async () => {
    const workflowId = await gateWorkflow(host, {
      config: { title: "Ship it?", description: "The release of today.", requiredApprovals: 2, timeoutSec: 3600 },
    });
    const first = await openGate(host, workflowId);
    const second = await openGate(host, workflowId);
    await ben.answer(first.interruptId, { action: "accept", feedback: "fine" });
    const items = await ana.inbox(`?workflowId=${workflowId}`);
    expect(items.map(({ interruptId }) => interruptId)).toEqual([first.interruptId, second.interruptId]);
    expect(items[0]).toMatchObject({
      ...first,
      workflowId,
      nodeId: "gate",
      kind: "approval",
      title: "Ship it?",
      description: "The release of today.",
      required: 2,
      granted: 1,
      rejected: 0,
      votes: [{ voter: "ben", action: "accept", reason: "fine" }],
      mine: null,
      actions: ["accept", "reject"],
      governed: false,
    });
    const { requestedAt = "", deadline } = items[0] ?? {};
    expect(Date.parse(deadline ?? "")).toBeGreaterThanOrEqual(Date.parse(requestedAt) + 3_600_000);
    expect((await ben.inbox(`?workflowId=${workflowId}`))[0]).toMatchObject({ mine: "accept" });
  });

  test("holds nothing that is over: decided, out of time, or gone with its run", async () => {
    const workflowId = await gateWorkflow(host);
    const decided = await openGate(host, workflowId);
    const cancelled = await openGate(host, workflowId);
    await ana.answer(decided.interruptId, { action: "accept" });
    await host.ask("POST", `/v1/runs/${cancelled.runId}/cancel`, { json: {} });
    expect(await idsFor(ana, workflowId)).toEqual([]);
  });

  test("shows a gate to those who may decide it, and to nobody else", async () => {
    const listed = await gateWorkflow(host, { config: { approversList: ["ana"] } });
    const governedBy = (config: object) =>
      gateWorkflow(host, { typeId: "core.openwop.governance.approvalGate", config });
    const byRole = await governedBy({ requiredRole: "admin" });
    const overridable = await governedBy({ requiredRole: "counsel", override: { requiredRole: "owner" } });
    for (const id of [listed, byRole, overridable]) await openGate(host, id);
    const admin = await Member.join(host, "adam", { roles: ["admin"] });
    const olga = await Member.join(host, "olga", { roles: ["owner"] });
    const seen = async (member: Member) =>
      Promise.all([listed, byRole, overridable].map(async (id) => (await idsFor(member, id)).length === 1));
    expect(await seen(ana)).toEqual([true, false, false]);
    expect(await seen(ben)).toEqual([false, false, false]);
    expect(await seen(admin)).toEqual([false, true, false]);
    expect(await seen(olga)).toEqual([false, true, true]);
  });

  test("asks what somebody is now, not when the key was made", async () => {
    const workflowId = await gateWorkflow(host, { config: { approverGroupRefs: ["legal"] } });
    await openGate(host, workflowId);
    const lea = await Member.join(host, "lea");
    expect(await idsFor(lea, workflowId)).toEqual([]);
    const joined = await host.ask("POST", "/v1/host/assay/principals/lea", { json: { groups: ["legal"] } });
    expect(joined.statusCode, joined.payload).toBe(200);
    expect(await idsFor(lea, workflowId)).toHaveLength(1);
  });

  test("leaves out what its reader started and must not approve", async () => {
    const workflowId = await gateWorkflow(host, { config: { forbidSelfApproval: true } });
    const olga = await Member.join(host, "olive", { roles: ["owner"] });
    await openGate(host, workflowId, olga.headers);
    expect(await idsFor(olga, workflowId)).toEqual([]);
    expect(await idsFor(ana, workflowId)).toHaveLength(1);
  });

  test("leaves out what ran out of time, though nobody has noticed yet", async () => {
    const idle = await testHost({ worker: true });
    const member = await Member.join(idle, "ana");
    const workflowId = await gateWorkflow(idle, { config: { timeoutSec: 3600 } });
    await openGate(idle, workflowId);
    expect(await member.inbox()).toHaveLength(1);
    const later = await testHost({ store: idle.store, host: { nowMs: () => Date.now() + 3_600_001 } });
    const { payload } = await later.ask("GET", "/v1/host/assay/inbox", { headers: member.headers });
    expect(JSON.parse(payload)).toEqual({ items: [] });
    await later.app.close();
    await idle.close();
  });

  test("stays within the workspace of the key, and of the tenant", async () => {
    const workflowId = await gateWorkflow(host);
    const east = await openGate(host, workflowId, bearer("east"));
    const nowhere = await openGate(host, workflowId);
    const listed = async (headers: Record<string, string>) => {
      const answer = await host.ask("GET", `/v1/host/assay/inbox?workflowId=${workflowId}`, { headers });
      return answer.json().items.map((item: { interruptId: string }) => item.interruptId);
    };
    expect(await listed(bearer("east"))).toEqual([east.interruptId]);
    expect(await listed(bearer("west"))).toEqual([]);
    expect(await listed(bearer("other"))).toEqual([]);
    expect(await listed(bearer("owner"))).toEqual([east.interruptId, nowhere.interruptId]);
  });

  test("judges by what somebody is in the workspace of the run", async () => {
    const workflowId = await gateWorkflow(host, {
      typeId: "core.openwop.governance.approvalGate",
      config: { requiredRole: "admin" },
    });
    const east = await openGate(host, workflowId, bearer("east"));
    await openGate(host, workflowId, bearer("west"));
    const rae = await Member.join(host, "rae");
    await Member.join(host, "rae", { workspace: "east", roles: ["admin"] });
    expect(await idsFor(rae, workflowId)).toEqual([east.interruptId]);
  });

  test("shows no sensitive value of a run", async () => {
    const workflowId = await gateWorkflow(host, {
      typeId: "core.interrupt",
      config: { kind: "approval", data: { description: "x" } },
      inputs: {
        title: { type: "variable", variableName: "secret" },
        description: { type: "variable", variableName: "secret" },
      },
      variables: [{ name: "secret", type: "string", sensitive: true }],
    });
    const inputs = { inputs: { secret: "hunter2hunter2" } };
    const { interruptId } = await openGate(host, workflowId, {}, inputs);
    await ana.answer(interruptId, { action: "accept", voter: "ana" });
    const quorum = await gateWorkflow(host, {
      config: { requiredApprovals: 2 },
      inputs: { artifact: { type: "variable", variableName: "secret" } },
      variables: [{ name: "secret", type: "string", sensitive: true }],
    });
    const open = await openGate(host, quorum, {}, inputs);
    await openGate(host, workflowId, {}, inputs);
    await ben.answer(open.interruptId, { action: "accept", feedback: "hunter2hunter2 it is" });
    const { payload } = await ana.ask("GET", "/v1/host/assay/inbox?limit=200");
    expect(payload).toContain("[REDACTED] it is");
    expect(payload).toContain('"title":"[REDACTED]"');
    expect(payload).not.toContain("hunter2");
  });

  test("is filtered by workflow, kind, run and whether one has voted", async () => {
    const workflowId = await gateWorkflow(host, { config: { requiredApprovals: 2 } });
    const voted = await openGate(host, workflowId);
    const other = await openGate(host, workflowId);
    const asks = await gateWorkflow(host, {
      typeId: "core.clarificationGate",
      config: { questions: [{ id: "q1", question: "Which colour?" }] },
    });
    const question = await openGate(host, asks);
    await ana.answer(voted.interruptId, { action: "accept" });
    const ids = async (query: string) => (await ana.inbox(query)).map(({ interruptId }) => interruptId);
    expect(await ids(`?workflowId=${workflowId}&mine=true`)).toEqual([voted.interruptId]);
    expect(await ids(`?workflowId=${workflowId}&mine=false`)).toEqual([other.interruptId]);
    expect(await ids(`?workflowId=${asks}`)).toEqual([question.interruptId]);
    expect(await ids(`?runId=${other.runId}`)).toEqual([other.interruptId]);
    expect(await ids(`?runId=${other.runId}&kind=clarification`)).toEqual([]);
    expect((await ana.inbox("?kind=clarification"))[0]).toMatchObject({
      ...question,
      title: "Which colour?",
      required: 1,
    });
  });

  test("takes no query and no cursor that it did not give out", async () => {
    const queries = ["?kind=unknown", "?mine=maybe", "?limit=0", "?limit=201", "?zzz=1", "?cursor=x", "?cursor=int-zz"];
    for (const query of queries) {
      expectError(await ana.ask("GET", `/v1/host/assay/inbox${query}`), "validation_error");
    }
    const { interruptId, runId } = await openGate(host, await gateWorkflow(host));
    expectError(await ana.ask("GET", `/v1/host/assay/inbox?cursor=${runId}`), "validation_error");
    const foreign = await host.ask("GET", `/v1/host/assay/inbox?cursor=${interruptId}`, { as: "other" });
    expectError(foreign, "validation_error");
    const elsewhere = await host.ask("GET", `/v1/host/assay/inbox?cursor=${interruptId}`, { as: "east" });
    expectError(elsewhere, "validation_error");
  });
});

describe("a long inbox", () => {
  test("is read page by page, with nothing lost among many gates that are for others", async () => {
    const mixed = await testHost({ worker: true });
    const pat = await Member.join(mixed, "pat");
    const forPat = await gateWorkflow(mixed, { config: { approversList: ["pat"] } });
    const forOthers = await gateWorkflow(mixed, { config: { approversList: ["somebody-else"] } });
    const expected: string[] = [];
    for (let i = 0; i < 5; i++) {
      expected.push((await openGate(mixed, forPat)).interruptId);
      for (let j = 0; j < 12; j++) await openGate(mixed, forOthers);
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await pat.page(`?limit=2${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map(({ interruptId }) => interruptId));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(expected);
    await mixed.close();
  });
});
