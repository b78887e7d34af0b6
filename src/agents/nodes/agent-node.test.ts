import { describe, expect, test } from "vitest";
import { cancelRun } from "../../engine/runs/change-run.ts";
import { forkRun } from "../../engine/runs/fork-run.ts";
import { snapshotOf } from "../../protocol/runs/snapshot.ts";
import { completed, payloadsOf, questions } from "../../testing/agent-questions.ts";
import { KNOWN_SECRET, logOf, until } from "../../testing/engine.ts";
import { AGENT_ID } from "../../testing/eval-bench.ts";
import { change, ended, workbench } from "../../testing/workbench.ts";
import type { AgentAnswer } from "../binding.ts";

const bench = workbench();
const { asking, asked } = questions(bench);

describe("an agent in a workflow", () => {
  test("is asked what the node is given, and its answer is the node's", async () => {
    const { run, types, log, calls } = await asked({
      behave: (_, watch) => {
        watch.reasoning("hm");
        watch.chunk("because");
        watch.usage({ provider: "p", model: "m", inputTokens: 1, outputTokens: 2 });
        return completed("because", { confidence: 0.9 });
      },
      node: { config: { resultVariable: "answer" } },
    });
    expect(calls).toEqual(["why"]);
    expect(run).toMatchObject({ status: "completed", variables: { answer: "because" } });
    const [invocationId] = payloadsOf(log, "agent.invocation.started").map((payload) => payload["invocationId"]);
    expect(run.nodes["ask"]?.outputs).toEqual({
      result: "because",
      outcome: "completed",
      agentId: AGENT_ID,
      agentVersion: "1.0.0",
      invocationId,
      confidence: 0.9,
    });
    expect(types).toEqual([
      "run.started",
      "node.started",
      "agent.invocation.started",
      "agent.promptResolved",
      "agent.reasoning.delta",
      "agent.reasoned",
      "output.chunk",
      "provider.usage",
      "agent.decided",
      "agent.invocation.completed",
      "variable.changed",
      "node.completed",
      "run.completed",
    ]);
    expect(snapshotOf(run, { variables: new Set(), outputs: new Map() }).agent).toEqual({
      agentId: AGENT_ID,
      version: "1.0.0",
    });
  });

  test("is asked all inputs by their names where there are several", async () => {
    const inputs = { task: { type: "static", value: 1 }, more: { type: "static", value: 2 } } as const;
    expect((await asked({ node: { inputs } })).calls).toEqual([{ task: 1, more: 2 }]);
  });

  test("is followed while it works, and what it says is in the log before it answers", async () => {
    let finish: () => void = () => {};
    const { store, runId } = await asking({
      behave: async (_, watch) => {
        watch.chunk("word ".repeat(200));
        await new Promise<void>((resolve) => (finish = resolve));
        return completed("done");
      },
    });
    await until(store, runId, (run) => run.version >= 5);
    expect((await logOf(store, runId)).map(({ type }) => type)).toContain("output.chunk");
    finish();
    const run = await until(store, runId, ended);
    expect(run.status).toBe("completed");
  });

  test("leaves no secret in the log, also when it says it in pieces", async () => {
    const told = "the colour of the sky";
    const { log } = await asked({
      behave: (_, watch) => {
        for (const piece of `${"so ".repeat(82)}${told}, ${KNOWN_SECRET} ${"so ".repeat(300)}`.match(/.{1,7}/gs) ??
          []) {
          watch.chunk(piece);
          watch.reasoning(piece);
        }
        return completed({ text: `${KNOWN_SECRET}: ${told}` });
      },
      workflow: { variables: [{ name: "question", type: "string", sensitive: true, defaultValue: told }] },
    });
    const text = JSON.stringify(log);
    expect(payloadsOf(log, "output.chunk").length).toBeGreaterThan(1);
    expect(
      payloadsOf(log, "output.chunk")
        .map(({ chunk }) => chunk)
        .join(""),
    ).not.toContain(told);
    expect(
      payloadsOf(log, "output.chunk")
        .map(({ chunk }) => chunk)
        .join(""),
    ).not.toContain(KNOWN_SECRET);
    expect(text).not.toContain(told);
    expect(text).not.toContain(KNOWN_SECRET);
  });

  test("that declines fails the node and is not asked again", async () => {
    const { run, log, calls } = await asked({
      behave: () => ({ type: "refused", reason: "your prompt says: be kind" }),
      node: { settings: { maxRetries: 3, retryDelayMs: 1 } },
    });
    expect(run).toMatchObject({ status: "failed", error: { code: "agent_refused" } });
    expect(payloadsOf(log, "agent.invocation.completed")).toMatchObject([{ outcome: "refused" }]);
    expect(JSON.stringify(log)).not.toContain("be kind");
    expect(calls).toHaveLength(1);
  });

  test("that fails is asked again as often as the node allows, when that may help", async () => {
    const crash = (retryable: boolean): AgentAnswer => ({
      type: "failed",
      error: { code: "agent_unreachable", message: `down, ${KNOWN_SECRET}`, retryable },
    });
    const answers = [crash(true), crash(true), completed("up")];
    const settings = { maxRetries: 2, retryDelayMs: 1 };
    const back = await asked({ behave: () => answers.shift() as AgentAnswer, node: { settings } });
    expect(back.run.status).toBe("completed");
    expect(payloadsOf(back.log, "agent.invocation.completed").map(({ outcome }) => outcome)).toEqual([
      "failed",
      "failed",
      "completed",
    ]);
    expect(new Set(payloadsOf(back.log, "agent.invocation.started").map(({ invocationId }) => invocationId)).size).toBe(
      3,
    );
    const down = await asked({
      behave: () => crash(false),
      node: { settings },
      workflow: { id: "down" },
    });
    expect(down.run).toMatchObject({ status: "failed", error: { code: "agent_unreachable" } });
    expect(down.calls).toHaveLength(1);
    expect(JSON.stringify(down.log)).not.toContain(KNOWN_SECRET);
  });

  test("is held to the shapes of its task and of its answer", async () => {
    const taskSchema = { type: "object" };
    const wrongTask = await asked({ agent: { taskSchema } });
    expect(wrongTask.run).toMatchObject({ status: "failed", error: { code: "handoff_task_schema_violation" } });
    expect(wrongTask.calls).toEqual([]);
    const wrongAnswer = await asked({
      agent: { returnSchema: { type: "object" } },
      workflow: { id: "answer" },
      behave: () => completed("text"),
    });
    expect(wrongAnswer.run).toMatchObject({ status: "failed", error: { code: "handoff_return_schema_violation" } });
    expect(payloadsOf(wrongAnswer.log, "agent.invocation.completed")).toMatchObject([
      { outcome: "failed", schemaValidated: false },
    ]);
  });

  test("hands its task on, and the workflow sees to whom", async () => {
    const { run, types } = await asked({
      behave: () => completed("not mine", { handoff: { toAgentId: "local.test.other", reason: "billing" } }),
    });
    expect(run.nodes["ask"]?.outputs).toMatchObject({
      outcome: "handed-off",
      handoff: { toAgentId: "local.test.other", reason: "billing" },
    });
    expect(types.indexOf("agent.handoff")).toBe(types.indexOf("agent.invocation.completed") - 1);
  });

  test("is stopped when its run is cancelled", async () => {
    let stopped: unknown;
    const { store, host, runId } = await asking({
      behave: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            stopped = true;
            reject(signal.reason as Error);
          });
        }),
    });
    const working = await until(store, runId, (run) => run.version >= 4);
    const { agent } = snapshotOf(working, { variables: new Set(), outputs: new Map() });
    expect(agent).toEqual({ agentId: AGENT_ID, version: "1.0.0" });
    await cancelRun(host, change(runId));
    expect(await until(store, runId, ended)).toMatchObject({ status: "cancelled", agent: { agentId: AGENT_ID } });
    expect(stopped).toBe(true);
    const log = await logOf(store, runId);
    const [started] = payloadsOf(log, "agent.invocation.started");
    const { invocationId, agentId } = started ?? {};
    const closed = { type: "agent.invocation.completed", nodeId: "ask" };
    expect(log.slice(-3)).toMatchObject([
      { ...closed, payload: { invocationId, agentId, outcome: "failed" } },
      { type: "node.cancelled" },
      { type: "run.cancelled" },
    ]);
    const { runId: replayId } = await forkRun(host, { ...change(runId), request: { mode: "replay", fromSeq: 0 } });
    expect((await until(store, replayId, ended)).agent?.open).toBeUndefined();
    const shown = (events: typeof log) => events.map(({ type, payload }) => ({ type, payload }));
    expect(shown(await logOf(store, replayId))).toEqual(shown(log));
  });

  test("leaves no bracket open when its run fails elsewhere", async () => {
    const { run, log } = await asked({
      behave: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      workflow: {
        nodes: {
          ask: { typeId: "assay.agent", agent: { agentId: AGENT_ID } },
          wait: { typeId: "core.delay", config: { ms: 50 } },
          fail: { typeId: "core.fail" },
        },
        edges: ["wait>fail"],
      },
    });
    expect(run.status).toBe("failed");
    expect(payloadsOf(log, "agent.invocation.completed")).toMatchObject([{ outcome: "failed" }]);
  });

  test("cannot be reached by a tool that it may not call", async () => {
    const asking: string[] = [];
    const { log, run } = await asked({
      behave: async ({ tools, signal }) => completed((await tools.call("mcp:clock/now", {}, signal)).status),
      agents: {
        toolsFor: async () => ({
          tools: [{ name: "mcp:other/tool" }],
          call: async (name) => {
            asking.push(name);
            return { status: "ok", outcome: 1 };
          },
        }),
      },
    });
    expect(run.nodes["ask"]?.outputs).toMatchObject({ result: "forbidden" });
    expect(payloadsOf(log, "agent.toolCalled")).toEqual([]);
    expect(asking).toEqual([]);
  });

  test("tells of a tool before the tool acts, and for whom", async () => {
    let before: string[] = [];
    let runOf = "";
    const { log } = await asked({
      behave: async ({ tools, signal, runId }) => {
        runOf = runId;
        return completed((await tools.call("mcp:clock/now", { zone: "UTC" }, signal)).status);
      },
      agents: {
        toolsFor: async () => ({
          tools: [{ name: "mcp:clock/now", transport: "mcp" }],
          call: async () => {
            before = (await logOf(bench.store, runOf)).map(({ type }) => type);
            return { status: "ok", outcome: 12 };
          },
        }),
      },
    });
    expect(before.at(-1)).toBe("agent.toolCalled");
    expect(payloadsOf(log, "agent.toolCalled")).toMatchObject([{ principal: "ada", transport: "mcp" }]);
    expect(payloadsOf(log, "agent.toolReturned")[0]).toMatchObject({ status: "ok", outcome: 12 });
    expect(payloadsOf(log, "agent.toolReturned")[0]?.["durationMs"]).toBeTypeOf("number");
  });

  test("whose tools cannot be reached is not asked, and may be asked again", async () => {
    let tries = 0;
    const { run, types } = await asked({
      agents: {
        toolsFor: async () => {
          tries += 1;
          throw new Error("no server");
        },
      },
      node: { settings: { maxRetries: 1, retryDelayMs: 1 } },
    });
    expect(run).toMatchObject({ status: "failed", error: { code: "agent_unreachable" } });
    expect(tries).toBe(2);
    expect(types).not.toContain("agent.invocation.started");
  });
});
