import { beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Store } from "../../store/port/store.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { answer, enrol, outcomeOf } from "../../testing/voters.ts";
import { workbench } from "../../testing/workbench.ts";
import { type WorkflowSpec, workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { resolveInterrupt } from "./resolve-interrupt.ts";

const bench = workbench();
let store: Store;
let bare: Host;
/** With a worker, whoever answers takes the run on at once; without one, that is left to others. */
let working: Host;
let ana: Caller;

beforeEach(async () => {
  store = bench.store;
  bare = engineOn(store);
  working = { ...bare, localWorker: bench.work(bare) };
  ana = await enrol(store, "ana");
});

const typeId = "core.openwop.governance.approvalGate";
const gateWith = (config: object = {}) => ({ typeId, config: { requiredRole: "reviewer", ...config } });
const looped: WorkflowSpec = {
  nodes: { draft: "core.noop", gate: gateWith(), publish: "core.noop" },
  edges: [
    "draft>gate",
    "gate>publish",
    { from: "gate", to: "draft", condition: { type: "equals", left: "output.decision", right: "rejected" } },
  ],
};

async function waiting(spec: WorkflowSpec, caller = ADA): Promise<string> {
  const workflowId = await register(working, workflow(spec), caller);
  const runId = await begin(working, { workflowId }, caller);
  await until(store, runId, ({ status }) => status.startsWith("waiting-"));
  return runId;
}

describe("what an answer is told", () => {
  test("while more are needed: the tally, and that the gate is open", async () => {
    const runId = await waiting({ nodes: { gate: gateWith({ quorum: 2 }) } });
    expect(await answer(working, ana, runId, { decision: "granted" })).toMatchObject({
      runId,
      nodeId: "gate",
      status: "waiting-approval",
      resolved: false,
      tally: { granted: 1, rejected: 0, required: 2 },
    });
  });

  test("is how the interrupt ended that it was about, also when the run has come round to the same gate again", async () => {
    for (const host of [working, bare]) {
      const runId = await waiting(looped);
      const before = await until(store, runId, () => true);
      const [interruptId] = Object.keys(before.interrupts);
      expect(await answer(host, ana, runId, { decision: "rejected" })).toMatchObject({
        interruptId,
        resolved: true,
        outcome: "rejected",
        tally: { rejected: 1 },
      });
      const again = await until(store, runId, ({ interrupts }) => Object.keys(interrupts).length === 2);
      expect(again.status).toBe("waiting-approval");
      expect(Object.values(again.interrupts)[1]?.votes).toEqual([]);
    }
  });
});

describe("an answer that was on its way when the gate came round again", () => {
  test("is not taken for the new question, which nobody has put to them", async () => {
    const runId = await waiting(looped);
    const seen = await until(store, runId, () => true);
    const ben = await enrol(store, "ben");
    await answer(working, ben, runId, { decision: "rejected" });
    await until(store, runId, ({ interrupts }) => Object.keys(interrupts).length === 2);
    const late = {
      caller: ana,
      runId,
      of: { nodeId: "gate" },
      value: { decision: "granted" },
      record: () => undefined,
    };
    expect(await outcomeOf(resolveInterrupt(working, { ...late, seen }))).toBe("interrupt_already_resolved");
    const run = await until(store, runId, () => true);
    expect(Object.values(run.interrupts)[1]).toMatchObject({ status: "open", votes: [] });
  });
});

describe("a decision on a host with a worker", () => {
  test("takes the run as far as it goes in the same commit", async () => {
    const runId = await waiting({ nodes: { gate: gateWith(), next: "core.noop" }, edges: ["gate>next"] });
    expect(await answer(working, ana, runId, { decision: "granted" })).toMatchObject({
      status: "completed",
      resolved: true,
      outcome: "granted",
    });
    expect((await logOf(store, runId)).at(-1)?.type).toBe("run.completed");
  });
});

describe("a decision on a host without one", () => {
  test("is durable, and taken up by whichever worker comes", async () => {
    const runId = await waiting({ nodes: { gate: gateWith() } });
    expect(await answer(bare, ana, runId, { decision: "granted" })).toMatchObject({
      status: "running",
      resolved: true,
    });
    expect((await until(store, runId, ({ status }) => status === "completed")).status).toBe("completed");
  });
});

describe("what a principal is at a gate", () => {
  const grant = { decision: "granted" };
  const roles = async (principal: string, held: readonly string[], workspace?: string) =>
    store.commit({
      tenant: "t1",
      roles: [{ tenant: "t1", principal, roles: held, ...(workspace === undefined ? {} : { workspace }) }],
    });

  test("is read when they decide: a role that was taken away counts no more, whatever the key says", async () => {
    const runId = await waiting({ nodes: { gate: gateWith({ quorum: 2 }) } });
    await roles("ana", []);
    expect(await outcomeOf(answer(working, ana, runId, grant))).toBe("forbidden");
    await roles("ana", ["reviewer"]);
    expect(await outcomeOf(answer(working, ana, runId, grant))).toBe("ok");
    await roles("ana", []);
    const ben = await enrol(store, "ben");
    expect(await answer(working, ben, runId, grant)).toMatchObject({ resolved: true, outcome: "granted" });
  });

  test("is what they are in the workspace of the run, not in that of their key", async () => {
    const east: Caller = { ...ADA, workspace: "east" };
    const runId = await waiting({ nodes: { gate: gateWith({ requiredRole: "admin" }) } }, east);
    const wes = await enrol(store, "wes", { roles: ["admin"], workspace: "west" });
    const { workspace: _, ...everywhere } = wes;
    expect(await outcomeOf(answer(working, everywhere, runId, grant))).toBe("forbidden");
    expect(await outcomeOf(answer(working, wes, runId, grant))).toBe("not_found");
    await roles("wes", ["admin"], "east");
    expect(await outcomeOf(answer(working, everywhere, runId, grant))).toBe("ok");
  });

  test("is nothing to somebody nobody has heard of, and in a role nobody has defined", async () => {
    const runId = await waiting({ nodes: { gate: gateWith({ requiredRole: "astronaut" }) } });
    const ghost: Caller = { ...ADA, principal: "ghost", roles: ["astronaut", "owner"] };
    expect(await outcomeOf(answer(working, ghost, runId, grant))).toBe("forbidden");
    const sam = await enrol(store, "sam", { roles: ["astronaut"] });
    expect(await outcomeOf(answer(working, sam, runId, grant))).toBe("forbidden");
    const roleDefinitions = [{ type: "put" as const, role: "astronaut", scopes: ["approvals:respond"] }];
    await store.commit({ tenant: "t1", roleDefinitions });
    expect(await outcomeOf(answer(working, sam, runId, grant))).toBe("ok");
  });

  test("includes their groups", async () => {
    const gate = { typeId: "core.approvalGate", config: { approverGroupRefs: ["finance"] } };
    const runId = await waiting({ nodes: { gate } });
    const claims: Caller = { ...ana, groups: ["finance"] };
    expect(await outcomeOf(answer(working, claims, runId, { action: "accept" }))).toBe("forbidden");
    await enrol(store, "ana", { groups: ["finance"] });
    expect(await outcomeOf(answer(working, ana, runId, { action: "accept" }))).toBe("ok");
  });
});

describe("a refusal that is written down", () => {
  test("is in the log and in the audit chain, once, with the run waiting on", async () => {
    const runId = await waiting({ nodes: { gate: gateWith({ requiredRole: "admin" }) } });
    for (const _ of [1, 2])
      expect(await outcomeOf(answer(working, ana, runId, { decision: "granted" }))).toBe("forbidden");
    const log = await logOf(store, runId);
    expect(log.filter(({ type }) => type === "authorization.decided")).toHaveLength(1);
    const audit = await store.readAudit("t1", 1, 1000, 1000);
    const denials = audit.filter(({ action, target }) => action === "authorization.denied" && target === runId);
    expect(denials).toMatchObject([{ actor: "ana", details: { nodeId: "gate", keyId: "key-of-ana" } }]);
    expect((await until(store, runId, () => true)).status).toBe("waiting-approval");
  });
});
