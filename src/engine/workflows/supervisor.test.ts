import { beforeEach, describe, expect, test } from "vitest";
import { shownDigest } from "../../formats/gates/gate-digest.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import { OrchestratorDecision } from "../../protocol/runs/orchestrator.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { snapshotOf } from "../../protocol/runs/snapshot.ts";
import { matches } from "../../protocol/schema.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { expectSound } from "../../testing/family.ts";
import { DONE, next, type Orchestrated, orchestrated } from "../../testing/orchestration.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { resolveInterrupt } from "../gates/resolve-interrupt.ts";
import type { Host } from "../host.ts";
import { type Decided, type DecisionRequest, FIXTURE_WORKER, planless } from "../nodes/decision-source.ts";
import { supervisor } from "../nodes/supervisor.ts";

const bench = workbench();
let host: Host;
/** What an agent was asked, and what it answers next. */
let asked: DecisionRequest[];
let answers: (Decided | { error: { code: string; message: string; retryable?: boolean } })[];

const AGENT = { agent: { agentId: "test.leader" }, config: { workers: [{ workflowId: "one" }] } };

beforeEach(async () => {
  asked = [];
  answers = [];
  const boss = supervisor({
    async decide(request) {
      asked.push(request);
      return answers.shift() ?? { decision: DONE };
    },
  });
  // As a host does that can ask agents: their nodes may be registered.
  host = engineOn(bench.store, [{ ...boss, onlyNamesAgent: () => true }]);
  await register(host, workflow({ id: "one", nodes: { only: "core.noop" } }));
});

async function start(spec: Orchestrated, request: object = {}): Promise<string> {
  const workflowId = await register(host, orchestrated(spec));
  bench.work(host);
  return begin(host, { workflowId, ...request });
}

async function led(spec: Orchestrated, request: object = {}): Promise<Run> {
  const runId = await start(spec, request);
  const run = await until(bench.store, runId, ended);
  await expectSound(bench.store, runId);
  return run;
}

const waiting = (runId: string, status: Run["status"]) => until(bench.store, runId, (run) => run.status === status);

/** The answer is for what the node asks now. */
async function answer(runId: string, nodeId: string, value: unknown) {
  const { interrupts = {} } = (await bench.store.readRun({ tenant: ADA.tenant }, runId)) ?? {};
  const open = Object.values(interrupts).find((one) => one.nodeId === nodeId && one.status === "open");
  if (open === undefined) throw new Error(`node ${nodeId} asks nothing`);
  const { interruptId } = open;
  const bound = { interruptId, revision: 0, artifactDigest: shownDigest(open) };
  return resolveInterrupt(host, { caller: ADA, runId, of: { interruptId }, value, bound, record: () => undefined });
}

const typed = async (runId: string, type: string): Promise<RunEventDoc[]> =>
  (await logOf(bench.store, runId)).filter((event) => event.type === type);

describe("a supervisor", () => {
  test("is named in every decision and in the run, and is the same throughout", async () => {
    const run = await led({ plan: [next("one"), DONE], boss: { agent: { agentId: "test.leader" } } });
    const decided = await typed(run.runId, "runOrchestrator.decided");
    expect(decided.map(({ nodeId, payload }) => [nodeId, (payload as { agentId: string }).agentId])).toEqual([
      ["boss", "test.leader"],
      ["boss", "test.leader"],
    ]);
    const { sensitivity } = await host.plans.byHash(run.workflowHash);
    expect(snapshotOf(run, sensitivity).runOrchestrator).toEqual({ agentId: "test.leader" });
    expect(asked).toEqual([]);
  });

  test("whose plan is used up, or who has none, ends the run and says why", async () => {
    expect(await led({ plan: [next("one")] })).toMatchObject({
      status: "completed",
      orchestrator: { turns: 2, decision: { kind: "terminate", reason: "plan-exhausted" } },
    });
    expect(await led({ id: "planless" })).toMatchObject({
      status: "completed",
      orchestrator: { turns: 1, decision: { kind: "terminate", reason: "no-plan" } },
    });
  });

  test("without a plan on a host with the conformance seams decides on one worker, then on the end", async () => {
    host = engineOn(bench.store, [supervisor(undefined, planless(bench))]);
    expect(await led({ id: "no-fixture" })).toMatchObject({
      orchestrator: { turns: 1, decision: { kind: "terminate", reason: "no-plan" } },
    });
    await register(host, workflow({ id: FIXTURE_WORKER, nodes: { only: "core.noop" } }));
    const run = await led({ id: "loop" });
    expect(run).toMatchObject({ status: "completed", orchestrator: { turns: 2, decision: { kind: "terminate" } } });
    expect(Object.values(run.children)).toMatchObject([{ workflowId: FIXTURE_WORKER, status: "completed" }]);
    const named = await led({ id: "named", boss: { config: { workers: [{ workflowId: "one" }] } } });
    expect(Object.values(named.children)).toMatchObject([{ workflowId: "one", status: "completed" }]);
  });

  test("may decide no more often than the run allows", async () => {
    const plan = [next("one"), next("one"), DONE];
    const run = await led({ plan }, { configurable: { maxLoopIterations: 2 } });
    expect(run).toMatchObject({ status: "failed", error: { code: "loop_limit_exceeded" }, orchestrator: { turns: 2 } });
    const [breach] = await typed(run.runId, "cap.breached");
    expect(breach?.payload).toEqual({ kind: "loop-iterations", limit: 2, observed: 3, nodeId: "boss" });
    const enough = await led({ id: "enough", plan }, { configurable: { maxLoopIterations: 3 } });
    expect(enough.status).toBe("completed");
  });

  test("is stopped by the cap of its dispatch, which its last word does not count towards", async () => {
    const plan = [next("one"), next("one"), DONE];
    const run = await led({ plan, dispatch: { iterationCap: 1 } });
    expect(run).toMatchObject({ status: "failed", error: { code: "loop_limit_exceeded" } });
    expect(Object.keys(run.children)).toHaveLength(1);
    const [breach] = await typed(run.runId, "cap.breached");
    expect(breach?.payload).toEqual({ kind: "dispatch-iterations", limit: 1, observed: 2, nodeId: "do" });
    expect((await led({ id: "enough", plan, dispatch: { iterationCap: 2 } })).status).toBe("completed");
  });
});

describe("a question to somebody", () => {
  test("is asked where the dispatch is, and its answer is there for the next decision", async () => {
    const runId = await start({ plan: [{ kind: "ask-user", prompt: "Which colour?" }, DONE] });
    const { interrupts } = await waiting(runId, "waiting-input");
    expect(Object.values(interrupts)[0]).toMatchObject({
      nodeId: "do",
      kind: "clarification",
      data: { questions: [{ id: "answer", question: "Which colour?" }] },
    });
    await answer(runId, "do", { answers: { answer: "green" } });
    expect((await until(bench.store, runId, ended)).status).toBe("completed");
    const [done] = (await typed(runId, "node.completed")).filter(({ nodeId }) => nodeId === "do");
    expect(done?.payload).toMatchObject({ outputs: { kind: "ask-user", prompt: "Which colour?", answer: "green" } });
  });
});

describe("a decision with little confidence of its own", () => {
  const unsure = { ...next("one"), confidence: 0.49 } as OrchestratorDecision;

  test("is recorded, and confirmed by somebody before anything is done", async () => {
    const runId = await start({ plan: [unsure, DONE] });
    await waiting(runId, "waiting-input");
    const log = await logOf(bench.store, runId);
    const types = log.map(({ type }) => type);
    expect(types.filter((type) => type === "core.workflowChain.confidence-escalated")).toHaveLength(1);
    expect(types).not.toContain("core.workflowChain.event");
    expect(types.indexOf("core.workflowChain.confidence-escalated")).toBeLessThan(types.indexOf("interrupt.requested"));
    const [escalated] = await typed(runId, "core.workflowChain.confidence-escalated");
    expect(escalated?.payload).toEqual({
      confidence: 0.49,
      floor: 0.5,
      escalationKind: "clarify",
      workerId: "one",
      parentRunId: runId,
      originalDecision: unsure,
    });
    await expect(answer(runId, "do", { answers: { proceed: "perhaps" } })).rejects.toThrow(AppError);
    await answer(runId, "do", { answers: { proceed: "yes" } });
    const run = await until(bench.store, runId, ended);
    expect(run.status).toBe("completed");
    expect(Object.keys(run.children)).toHaveLength(1);
  });

  test("that nobody confirms ends the run where no loop leads back to the supervisor", async () => {
    const runId = await start({ plan: [unsure], loop: false, nodes: { publish: "core.noop" }, edges: ["do>publish"] });
    await waiting(runId, "waiting-input");
    await answer(runId, "do", { answers: { proceed: "no" } });
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "failed", error: { code: "approval_rejected" }, children: {} });
    expect(run.nodes["publish"]?.status).not.toBe("completed");
  });

  const others = { type: "notEquals", left: "output.kind", right: "next-worker" } as const;

  test.each([
    ["whatever came of it", {}],
    ["where it was for no worker", { condition: others }],
  ])("that nobody confirms ends the run where the loop goes round for workers only, and is left %s", async (_, on) => {
    const workers = { type: "equals", left: "output.kind", right: "next-worker" } as const;
    const edges = [
      { from: "do", to: "boss", condition: workers },
      { from: "do", to: "publish", ...on },
    ];
    const runId = await start({ plan: [unsure], loop: false, nodes: { publish: "core.noop" }, edges });
    await waiting(runId, "waiting-input");
    await answer(runId, "do", { answers: { proceed: "no" } });
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "failed", error: { code: "approval_rejected" }, children: {} });
    expect(run.nodes["publish"]?.status).not.toBe("completed");
  });

  test("that nobody confirms is not done, and the supervisor decides again", async () => {
    const end: OrchestratorDecision = { kind: "terminate", confidence: 0.1 };
    const runId = await start({ plan: [unsure, end, DONE] });
    await waiting(runId, "waiting-input");
    await answer(runId, "do", { answers: { proceed: "no" } });
    await until(bench.store, runId, ({ orchestrator }) => orchestrator?.turns === 2);
    const [, escalated] = await typed(runId, "core.workflowChain.confidence-escalated");
    expect(escalated?.payload).not.toHaveProperty("workerId");
    await waiting(runId, "waiting-input");
    await answer(runId, "do", { answers: { proceed: "no" } });
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "completed", children: {}, orchestrator: { turns: 3, decision: DONE } });
  });

  test("at the floor, or without any, is done at once", async () => {
    const run = await led({ plan: [{ ...next("one"), confidence: 0.5 } as OrchestratorDecision, next("one"), DONE] });
    expect(Object.keys(run.children)).toHaveLength(2);
    expect(run.interrupts).toEqual({});
  });
});

describe("an agent that is not sure enough of itself", () => {
  async function held(request: object = {}): Promise<string> {
    answers = [{ decision: next("one"), confidence: 0.5 }];
    const runId = await start({ boss: AGENT }, request);
    await waiting(runId, "waiting-approval");
    return runId;
  }

  test("has decided nothing until somebody ratifies it, and is not asked again for it", async () => {
    const runId = await held();
    expect(await typed(runId, "runOrchestrator.decided")).toEqual([]);
    const [suspended] = await typed(runId, "node.suspended");
    expect(suspended).toMatchObject({ nodeId: "boss", payload: { kind: "low-confidence", reason: "low-confidence" } });
    const { interrupts } = await waiting(runId, "waiting-approval");
    const data = { agentId: "test.leader", threshold: 0.7, observed: 0.5, decision: next("one") };
    expect(Object.values(interrupts)[0]?.data).toEqual(data);
    await answer(runId, "boss", { action: "accept" });
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "completed", orchestrator: { turns: 2 } });
    expect(Object.keys(run.children)).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });

  test.each([{ decision: DONE }, DONE])("can be overruled with another decision (%j)", async (value) => {
    const runId = await held();
    await answer(runId, "boss", value);
    const run = await until(bench.store, runId, ended);
    expect(run).toMatchObject({ status: "completed", children: {}, orchestrator: { turns: 1, decision: DONE } });
    expect(asked).toHaveLength(1);
  });

  test("can be rejected, which fails the run", async () => {
    const runId = await held();
    await answer(runId, "boss", { action: "reject" });
    expect(await until(bench.store, runId, ended)).toMatchObject({ error: { code: "approval_rejected" } });
  });

  test("is overruled by nothing that it could not decide itself", async () => {
    const runId = await held();
    for (const value of [{}, "yes", { decision: next("elsewhere") }, { kind: "next-worker", nextWorkerIds: [] }]) {
      await expect(answer(runId, "boss", value)).rejects.toThrow(AppError);
    }
    expect(await waiting(runId, "waiting-approval")).toBeDefined();
  });

  test("is measured by the threshold of the run, else its own, else the usual one; equal is enough", async () => {
    answers = [{ decision: DONE, confidence: 0.7 }];
    expect((await led({ boss: AGENT })).status).toBe("completed");
    answers = [{ decision: DONE, confidence: 0.4, threshold: 0.4 }];
    expect((await led({ id: "own", boss: AGENT })).status).toBe("completed");
    answers = [{ decision: DONE, confidence: 0.9, threshold: 0.1 }];
    const runId = await start({ id: "run", boss: AGENT }, { configurable: { escalationThreshold: 0.95 } });
    const { interrupts } = await waiting(runId, "waiting-approval");
    expect(Object.values(interrupts)[0]?.data).toMatchObject({ threshold: 0.95, observed: 0.9 });
  });
});

describe("an agent that decides", () => {
  test("is asked once for each turn, and told which workers there are", async () => {
    answers = [{ decision: next("one") }, { decision: DONE }];
    const run = await led({ boss: AGENT });
    expect(run.status).toBe("completed");
    expect(asked.map(({ agentId, turn, workers }) => [agentId, turn, workers])).toEqual([
      ["test.leader", 1, [{ workflowId: "one" }]],
      ["test.leader", 2, [{ workflowId: "one" }]],
    ]);
    const [{ schema }] = asked as [DecisionRequest];
    expect(matches(schema, next("one"))).toBe(true);
    expect(matches(schema, next("elsewhere"))).toBe(false);
    expect(asked[1]?.context.run).toMatchObject({ orchestrator: { decision: next("one") } });
  });

  test.each([
    ["nothing of the kind", "do as you like"],
    ["another kind", { kind: "escape" }],
    ["more than is allowed", { ...next("one"), sudo: true }],
    ["a workflow that is none of its workers", next("elsewhere")],
  ])("%s fails, and starts nothing", async (_, decision) => {
    await register(host, workflow({ id: "elsewhere", nodes: { only: "core.noop" } }));
    answers = [{ decision }];
    const run = await led({ boss: AGENT });
    expect(run).toMatchObject({ status: "failed", error: { code: "orchestrator_decision_invalid" }, children: {} });
    expect(await typed(run.runId, "runOrchestrator.decided")).toEqual([]);
  });

  test("is asked again when what went wrong may pass", async () => {
    answers = [{ error: { code: "agent_unreachable", message: "not now", retryable: true } }, { decision: DONE }];
    const settings = { maxRetries: 1, retryDelayMs: 1 };
    const run = await led({ boss: { ...AGENT, settings } });
    expect(run.status).toBe("completed");
    expect(asked.map(({ turn }) => turn)).toEqual([1, 1]);
  });

  test("cannot be asked by a host that knows none", async () => {
    host = engineOn(bench.store, [{ ...supervisor(), onlyNamesAgent: () => true }]);
    expect(await led({ boss: AGENT })).toMatchObject({ status: "failed", error: { code: "agent_not_configured" } });
  });
});

test("every example of a decision is one", () => {
  for (const one of [next("a"), DONE, { kind: "terminate", successCriteria: [{ key: "answered", met: false }] }]) {
    expect(matches(OrchestratorDecision, one)).toBe(true);
  }
  for (const one of [{ kind: "ask-user" }, { kind: "next-worker", nextWorkerIds: [] }, { kind: "vendor.x.y" }]) {
    expect(matches(OrchestratorDecision, one)).toBe(false);
  }
});
