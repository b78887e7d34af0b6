import { describe, expect, test } from "vitest";
import { resolveInterrupt } from "../../engine/gates/resolve-interrupt.ts";
import { forkRun } from "../../engine/runs/fork-run.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import { agentHost } from "../../testing/agent-nodes.ts";
import { ASK, completed, payloadsOf, questions, waiting } from "../../testing/agent-questions.ts";
import { ADA, begin, logOf, register, until } from "../../testing/engine.ts";
import { AGENT_ID, agentOf, agentsOf, type Behaviour } from "../../testing/eval-bench.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";

const bench = workbench();
const { asking, asked } = questions(bench);

describe("an agent that is not sure", () => {
  const unsure = { behave: (() => completed("perhaps", { confidence: 0.4 })) as Behaviour };
  const answer = (host: Parameters<typeof resolveInterrupt>[0], runId: string, value: unknown) =>
    resolveInterrupt(host, { caller: ADA, runId, of: { nodeId: "ask" }, value, record: () => undefined });

  test("waits for somebody, and its answer is taken without asking it again", async () => {
    const { store, host, runId, calls } = await asking(unsure);
    await until(store, runId, waiting);
    const log = await logOf(store, runId);
    expect(payloadsOf(log, "agent.invocation.completed")).toMatchObject([{ outcome: "escalated", confidence: 0.4 }]);
    expect(payloadsOf(log, "node.suspended")).toMatchObject([
      { reason: "low-confidence", agentId: AGENT_ID, threshold: 0.7, observed: 0.4 },
    ]);
    await answer(host, runId, { action: "accept" });
    const run = await until(store, runId, ended);
    expect(run.nodes["ask"]?.outputs).toMatchObject({ result: "perhaps", outcome: "escalated", agentVersion: "1.0.0" });
    expect(calls).toHaveLength(1);
    expect(payloadsOf(await logOf(store, runId), "agent.invocation.started")).toHaveLength(1);
  });

  test("may be overruled, or rejected", async () => {
    const returnSchema = { type: "string", maxLength: 20 };
    const one = await asking({ ...unsure, agent: { returnSchema } });
    await until(one.store, one.runId, waiting);
    await expect(answer(one.host, one.runId, { result: 7 })).rejects.toMatchObject({ code: "validation_error" });
    await answer(one.host, one.runId, { result: "surely" });
    expect((await until(one.store, one.runId, ended)).nodes["ask"]?.outputs).toMatchObject({ result: "surely" });
    const other = await asking({ ...unsure, workflow: { id: "rejected" } });
    await until(other.store, other.runId, waiting);
    await answer(other.host, other.runId, { action: "reject" });
    expect(await until(other.store, other.runId, ended)).toMatchObject({
      status: "failed",
      error: { code: "approval_rejected" },
    });
    expect(other.calls).toHaveLength(1);
  });

  test.each([
    ["the run", { request: { configurable: { escalationThreshold: 0.3 } } }, "completed"],
    ["its manifest", { agent: { confidenceThreshold: 0.4 } }, "completed"],
    [
      "the run before its manifest",
      { agent: { confidenceThreshold: 0.1 }, request: { configurable: { escalationThreshold: 0.5 } } },
      "waiting-approval",
    ],
  ])("is unsure by what %s says", async (_, spec, status) => {
    const { store, runId } = await asking({ ...unsure, ...spec });
    expect((await until(store, runId, (run) => ended(run) || waiting(run))).status).toBe(status);
  });
});

describe("an agent whose worker is gone", () => {
  test("is asked again, and what was left open is closed as failed", async () => {
    const { store } = bench;
    let calls = 0;
    const gone: Behaviour = async (_, watch) => {
      calls += 1;
      if (calls > 1) return completed("back");
      watch.chunk("word ".repeat(200));
      return new Promise(() => {});
    };
    const { host } = agentHost(store, agentsOf([agentOf()], gone));
    const workflowId = await register(host, workflow({ nodes: { ask: ASK } }));
    const first = bench.work(host);
    const runId = await begin({ ...host, localWorker: first }, { workflowId });
    await until(store, runId, (run) => run.version >= 5);
    await first.stop(0);
    bench.work(host);
    const run = await until(store, runId, ended);
    expect(run.status).toBe("completed");
    const log = await logOf(store, runId);
    const [lost, made] = payloadsOf(log, "agent.invocation.started").map(({ invocationId }) => invocationId);
    expect(payloadsOf(log, "agent.invocation.completed")).toMatchObject([
      { invocationId: lost, outcome: "failed" },
      { invocationId: made, outcome: "completed" },
    ]);
    const types = log.map(({ type }) => type);
    expect(types.indexOf("agent.invocation.completed")).toBeLessThan(types.lastIndexOf("agent.invocation.started"));
    expect(payloadsOf(log, "output.chunk").at(-1)).toMatchObject({ isLast: true, meta: { finishReason: "error" } });
  });
});

describe("a replay", () => {
  test("tells what the agent did and asks nobody", async () => {
    const { store, host, runId, calls, log } = await asked({
      behave: (_, watch) => {
        watch.reasoning("hm");
        watch.chunk("yes");
        return completed("yes");
      },
    });
    const { runId: replayId } = await forkRun(host, { ...change(runId), request: { mode: "replay", fromSeq: 0 } });
    await until(store, replayId, ended);
    expect(calls).toHaveLength(1);
    const shown = (events: readonly RunEventDoc[]) => events.map(({ type, payload }) => ({ type, payload }));
    expect(shown(await logOf(store, replayId))).toEqual(shown(log));
  });
});
