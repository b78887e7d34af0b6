import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BOTH_STORES } from "../testing/both-stores.ts";
import { ForkHost } from "../testing/fork-host.ts";
import { expectError } from "../testing/host.ts";
import { expectAllRebuilt } from "../testing/rebuilt.ts";
import { workflow } from "../testing/workflow.ts";

const ACCEPT = { action: "accept" };
const FOUR_EYES = { typeId: "core.approvalGate", config: { forbidSelfApproval: true } };

describe.each(BOTH_STORES)("a branch of somebody else's run on %s", (_, open) => {
  let forks: ForkHost;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    forks = await ForkHost.start(opened.store);
    await forks.gates.registerWorkflow(workflow({ id: "four-eyes", nodes: { gate: FOUR_EYES } }));
    const child = { typeId: "core.subWorkflow", config: { workflowId: "four-eyes" } };
    await forks.gates.registerWorkflow(workflow({ id: "asks-below", nodes: { child } }));
  });
  afterAll(async () => {
    await expectAllRebuilt(forks.host.store);
    await forks.host.close();
    await drop();
  });

  async function inboxOf(as: "owner" | "east", runId: string): Promise<unknown[]> {
    return (await forks.host.ask("GET", `/v1/host/assay/inbox?runId=${runId}`, { as })).json().items;
  }

  async function expectFourEyes(runId: string): Promise<void> {
    expect(await inboxOf("owner", runId)).toEqual([]);
    expectError(await forks.gates.answer(runId, ACCEPT, { as: "owner" }), "forbidden");
    expect(await inboxOf("east", runId)).toHaveLength(1);
    expect((await forks.gates.answer(runId, ACCEPT, { as: "east" })).statusCode).toBe(200);
    expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
  }

  test("is not approved by whoever branched, where nobody approves what they started", async () => {
    const source = await forks.gates.waiting("four-eyes", "east");
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: 0 });
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    await expectFourEyes(runId);
    expect((await forks.gates.snapshot(runId)).owner).toMatchObject({ principal: "eve" });
    const served = await forks.host.ask("GET", `/v1/runs/${runId}/debug-bundle`);
    expect(served.payload).not.toContain("startedBy");
  });

  test("nor is what it dispatches", async () => {
    const source = await forks.gates.start("asks-below", "east");
    await forks.gates.until(source, ({ children }) => Object.keys(children).length > 0);
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: 0 });
    const { children } = await forks.gates.until(runId, (run) => Object.keys(run.children).length > 0);
    const [child = ""] = Object.keys(children);
    await forks.gates.until(child, ({ status }) => status === "waiting-approval");
    await expectFourEyes(child);
  });
});
