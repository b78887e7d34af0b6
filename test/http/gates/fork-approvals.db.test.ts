import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readInbox } from "../../../src/engine/gates/inbox.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { ForkHost } from "../../../src/testing/fork-host.ts";
import { expectError } from "../../../src/testing/host.ts";
import { expectAllRebuilt } from "../../../src/testing/rebuilt.ts";
import { answer, enrol } from "../../../src/testing/voters.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const ACCEPT = { action: "accept" };
const FOUR_EYES = { typeId: "core.approvalGate", config: { forbidSelfApproval: true } };

describe.each(HTTP_STORES)("a branch of somebody else's run on %s", (_, open) => {
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

  /** Neither who started the source nor who branched may approve; a third person may. */
  async function expectFourEyes(runId: string, accept: unknown = ACCEPT): Promise<void> {
    for (const as of ["owner", "east"] as const) {
      expect(await inboxOf(as, runId)).toEqual([]);
      expectError(await forks.gates.answer(runId, accept, { as }), "forbidden");
    }
    const rita = await enrol(forks.host.store, "rita");
    expect((await readInbox(forks.host.host, rita, { runId })).items).toHaveLength(1);
    expect(await answer(forks.host.host, rita, runId, accept)).toMatchObject({ resolved: true });
    expect(await forks.ended(runId)).toMatchObject({ status: "completed" });
  }

  test("is approved neither by who branched nor by who started its source, where nobody approves what they started", async () => {
    const source = await forks.gates.waiting("four-eyes", "east");
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: 0 });
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    await expectFourEyes(runId);
    expect((await forks.gates.snapshot(runId)).owner).toMatchObject({ principal: "eve" });
    const served = await forks.host.ask("GET", `/v1/runs/${runId}/debug-bundle`);
    expect(served.payload).not.toMatch(/startedBy|starters/);
  });

  test("nor are the runs that it dispatches", async () => {
    const source = await forks.gates.start("asks-below", "east");
    await forks.gates.until(source, ({ children }) => Object.keys(children).length > 0);
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: 0 });
    const { children } = await forks.gates.until(runId, (run) => Object.keys(run.children).length > 0);
    const [child = ""] = Object.keys(children);
    await forks.gates.until(child, ({ status }) => status === "waiting-approval");
    await expectFourEyes(child);
  });

  test("nor is a branch of the branch, or a branch of a run that the branch dispatched", async () => {
    const source = await forks.gates.start("asks-below", "east");
    await forks.gates.until(source, ({ children }) => Object.keys(children).length > 0);
    const first = await forks.fork(source, { mode: "branch", fromSeq: 0 });
    const { runId } = await forks.fork(first.runId, { mode: "branch", fromSeq: 0 });
    const { children } = await forks.gates.until(runId, (run) => Object.keys(run.children).length > 0);
    const [child = ""] = Object.keys(children);
    await forks.gates.until(child, ({ status }) => status === "waiting-approval");
    const below = await forks.fork(child, { mode: "branch", fromSeq: 0 });
    await forks.gates.until(below.runId, ({ status }) => status === "waiting-approval");
    await expectFourEyes(below.runId);
    await expectFourEyes(child);
  });

  test("nor by any of those who branched on the way to it", async () => {
    const made = await forks.host.ask("POST", "/v1/host/assay/keys", { json: { principal: "carl", roles: ["owner"] } });
    const headers = { authorization: `Bearer ${made.json().key}` };
    const source = await forks.gates.waiting("four-eyes", "east");
    const body = { mode: "branch", fromSeq: 0 };
    const carls = (await forks.ask(source, body, "owner", headers)).json();
    const { runId } = await forks.fork(carls.runId, body);
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    expectError(await forks.gates.answer(runId, ACCEPT, { headers }), "forbidden");
    await expectFourEyes(runId);
  });

  test("nor may they override a governed gate", async () => {
    const config = { requiredRole: "reviewer", forbidSelfApproval: true, override: { requiredRole: "owner" } };
    const gate = { typeId: "core.openwop.governance.approvalGate", config };
    await forks.gates.registerWorkflow(workflow({ id: "governed-eyes", nodes: { gate } }));
    const source = await forks.gates.waiting("governed-eyes", "east");
    const { runId } = await forks.fork(source, { mode: "branch", fromSeq: 0 });
    await forks.gates.until(runId, ({ status }) => status === "waiting-approval");
    const override = { decision: "granted", override: true, reason: "mine" };
    for (const as of ["owner", "east"] as const) {
      expectError(await forks.gates.answer(runId, override, { as }), "forbidden");
    }
    await expectFourEyes(runId, { decision: "granted" });
  });
});
