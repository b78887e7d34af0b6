import { describe, expect, test } from "vitest";
import { idSource } from "../engine/host.ts";
import { scrubber } from "../formats/secrets/scrub.ts";
import { EVENTS, type EventDraft } from "../protocol/events.ts";
import { matches } from "../protocol/schema.ts";
import { agentOf } from "../testing/eval-bench.ts";
import type { AgentAnswer, AgentTask, Binding, Watcher } from "./binding.ts";
import type { Invocation } from "./invocation.ts";
import { invoke } from "./invoke.ts";
import type { ToolSurface } from "./tool-surface.ts";

const SECRET = "sk-proj-Ab3dE6gH9jK2mN5pQ8sT1vW4";

const clock: ToolSurface = {
  tools: [{ name: "mcp:clock" }],
  call: async (name) => ({ status: "ok", outcome: { name, time: "12:00", secret: SECRET } }),
};

type Does = (task: AgentTask, watch: Watcher) => AgentAnswer | Promise<AgentAnswer>;

async function invoked(does: Does, changes: Partial<Invocation> = {}) {
  const events: EventDraft[] = [];
  const binding: Binding = { kind: "scripted", provider: "test", model: "m-1", call: async (...args) => does(...args) };
  const result = await invoke(
    {
      agent: agentOf(),
      binding,
      input: { question: "why" },
      runId: "run-1",
      nodeId: "ask",
      invocationId: "inv-1",
      source: "workflow-node",
      tools: clock,
      memory: [],
      content: true,
      scrubber: scrubber(),
      newId: idSource(Date.now),
      nowMs: Date.now,
      signal: new AbortController().signal,
      ...changes,
    },
    (event) => events.push(event),
  );
  for (const { type, payload } of events) expect(matches(EVENTS[type].payload, payload), type).toBe(true);
  return { result, events, types: events.map(({ type }) => type) };
}

const answer = (output: unknown, more: object = {}): AgentAnswer => ({ type: "completed", output, ...more });
const payloadOf = (events: readonly EventDraft[], type: string) => events.find((event) => event.type === type)?.payload;

describe("an invocation", () => {
  test("is bracketed, and tells what happens in the order of the protocol", async () => {
    const { types, events, result } = await invoked(async ({ tools, signal }, watch) => {
      watch.reasoning("let me ");
      watch.reasoning("see");
      await tools.call("mcp:clock", { zone: "UTC" }, signal);
      watch.usage({ provider: "test", model: "m-1", inputTokens: 3, outputTokens: 4, costUsd: 0.01 });
      return answer("noon", { confidence: 0.9 });
    });
    expect(types).toEqual([
      "agent.invocation.started",
      "agent.promptResolved",
      "agent.reasoning.delta",
      "agent.reasoned",
      "agent.toolCalled",
      "agent.toolReturned",
      "provider.usage",
      "agent.decided",
      "agent.invocation.completed",
    ]);
    expect(payloadOf(events, "agent.reasoned")).toMatchObject({ reasoning: "let me see" });
    const [called, returned] = events.slice(4, 6);
    expect(returned?.causationId).toBe(called?.eventId);
    expect(result).toMatchObject({ outcome: "completed", output: "noon", confidence: 0.9, costUsd: 0.01, denied: [] });
    expect(events.every(({ nodeId }) => nodeId === "ask")).toBe(true);
  });

  test("never calls a tool outside the list, and leaves no trace of a call", async () => {
    const asked: string[] = [];
    const tools: ToolSurface = {
      tools: [{ name: "mcp:clock" }],
      call: async (name) => {
        asked.push(name);
        return { status: "ok", outcome: null };
      },
    };
    const { result, types } = await invoked(
      async (task) => answer(await task.tools.call("mcp:shell", { rm: "-rf" }, task.signal)),
      { tools },
    );
    expect(asked).toEqual([]);
    expect(types).not.toContain("agent.toolCalled");
    expect(result).toMatchObject({ output: { status: "forbidden" }, denied: ["mcp:shell"] });
  });

  test("takes from a model what no JSON text could hold, and refuses an abyss on both sides of a tool", async () => {
    const abyss = JSON.parse(`${"[".repeat(50_000)}1${"]".repeat(50_000)}`) as unknown;
    const asked: unknown[] = [];
    const tools: ToolSurface = {
      tools: [{ name: "mcp:clock" }],
      call: async (_name, args) => {
        asked.push(args);
        return { status: "ok", outcome: asked.length === 1 ? { half: "x\udc00" } : abyss };
      },
    };
    const { result, types } = await invoked(
      async ({ tools: given, signal }) => {
        const call = (args: unknown) => given.call("mcp:clock", args, signal);
        const half = { "a\ud800": "\ud800", n: Number.POSITIVE_INFINITY };
        return answer([await call(half), await call({ abyss }), await call({})]);
      },
      { tools },
    );
    expect(asked).toEqual([{ "a\ufffd": "\ufffd", n: null }, {}]);
    expect(result.output).toEqual([
      { status: "ok", outcome: { half: "x\ufffd" } },
      { status: "error", error: "what it is to be called with is nested more than 64 levels deep" },
      { status: "error", error: "its result is nested more than 64 levels deep" },
    ]);
    expect(types.filter((type) => type === "agent.toolCalled")).toHaveLength(2);
  });

  test("tells of every call of a tool what it came to, also where nobody waited for it", async () => {
    const tools: ToolSurface = {
      tools: [{ name: "mcp:clock" }],
      call: async (_name, _args, signal) => signal.throwIfAborted() as never,
    };
    const { events, types } = await invoked(
      async (task) => {
        const over = AbortSignal.abort(new Error("too slow"));
        await task.tools.call("mcp:clock", {}, over).catch(() => undefined);
        return { type: "failed", error: { code: "agent_timeout", message: "too slow", retryable: true } };
      },
      { tools },
    );
    expect(types.slice(-3)).toEqual(["agent.toolCalled", "agent.toolReturned", "agent.invocation.completed"]);
    const [called, returned] = events.slice(-3);
    expect(returned).toMatchObject({ causationId: called?.eventId, payload: { status: "error" } });
  });

  test("checks the task before the agent is called, and the answer after", async () => {
    const taskSchema = { type: "object", required: ["question"], properties: { question: { type: "number" } } };
    const returnSchema = { type: "object", required: ["answer"] };
    let calls = 0;
    const does: Does = () => {
      calls += 1;
      return answer({ other: 1 });
    };
    const refused = await invoked(does, { agent: agentOf({ taskSchema }) });
    expect(calls).toBe(0);
    expect(refused.result.outcome).toBe("failed");
    expect(refused.types).toEqual(["agent.invocation.started", "agent.reasoned", "agent.invocation.completed"]);
    const wrong = await invoked(does, { agent: agentOf({ returnSchema }) });
    expect(wrong.result).toMatchObject({ outcome: "failed", schemaValid: false });
    expect(wrong.types).not.toContain("agent.decided");
    const right = await invoked(() => answer({ answer: 1 }), { agent: agentOf({ returnSchema }) });
    expect(right.result).toMatchObject({ outcome: "completed", schemaValid: true });
  });

  test("with a long answer lets other work have its turn while the answer is cleaned", async () => {
    const said = Array.from({ length: 20_000 }, (_, i) => `word ${i} and some more words, key ${SECRET}`);
    let turns = 0;
    let over = false;
    const count = () => {
      turns++;
      if (!over) setImmediate(count);
    };
    const { events } = await invoked(() => {
      setImmediate(count);
      return answer(said);
    });
    over = true;
    expect(turns).toBeGreaterThan(5);
    expect(JSON.stringify(payloadOf(events, "agent.decided"))).not.toContain(SECRET);
  });

  test("shows no secret, whoever said it", async () => {
    const { events } = await invoked(async ({ tools, signal }, watch) => {
      watch.reasoning(`the key is ${SECRET}`);
      watch.chunk(`here: ${SECRET}`);
      await tools.call("mcp:clock", { key: SECRET }, signal);
      return answer({ key: SECRET }, { handoff: { toAgentId: "local.test.other", reason: SECRET } });
    });
    expect(JSON.stringify(events)).not.toContain(SECRET);
    expect(JSON.stringify(events)).not.toContain("Answer with what you are given");
  });

  test("hands off without a secret in the name or the reason, to the log and to whoever asked", async () => {
    const handoff = { toAgentId: `local.${SECRET}`, reason: `with ${SECRET}` };
    const { events, result } = await invoked(() => answer("fine", { handoff }));
    expect(payloadOf(events, "agent.handoff")).toMatchObject({ reason: "with [REDACTED]" });
    expect(JSON.stringify([events, result])).not.toContain(SECRET);
  });

  test("without content tells that something was said and nothing of it", async () => {
    const planted = "the-blue-heron";
    const { events, types } = await invoked(
      async ({ tools, signal }, watch) => {
        watch.reasoning(planted);
        watch.chunk(planted);
        await tools.call("mcp:clock", { planted }, signal);
        return answer(planted, { handoff: { toAgentId: "local.test.other", reason: planted } });
      },
      { content: false },
    );
    expect(JSON.stringify(events)).not.toContain(planted);
    expect(types).toContain("agent.toolCalled");
    expect(types).toContain("agent.decided");
  });

  test("that broke off and was made anew shows what it said the second time", async () => {
    const half = "word ".repeat(200);
    const { events } = await invoked((_, watch) => {
      watch.reasoning(half);
      watch.chunk(half);
      watch.again?.();
      watch.reasoning("now I see");
      watch.chunk("noon");
      return answer("noon");
    });
    const chunks = events.filter(({ type }) => type === "output.chunk").map(({ payload }) => payload);
    expect(chunks.slice(-2)).toMatchObject([
      { isLast: true, meta: { finishReason: "error" } },
      { chunk: "noon", isLast: true, meta: { finishReason: "stop" } },
    ]);
    const reasoned = events.filter(({ type }) => type === "agent.reasoned").map(({ payload }) => payload);
    expect(reasoned).toMatchObject([{ superseded: true }, { reasoning: "now I see" }]);
  });

  test("ends as refused, failed, handed off or escalated, and is closed in every case", async () => {
    const cases: [Does, string, Partial<Invocation>][] = [
      [() => ({ type: "refused", reason: "no" }), "refused", {}],
      [() => ({ type: "failed", error: { code: "agent_crashed", message: "exit 1", retryable: false } }), "failed", {}],
      [() => answer(1, { handoff: { toAgentId: "local.test.other" } }), "handed-off", {}],
      [() => answer(1, { confidence: 0.4 }), "escalated", { threshold: 0.5 }],
      [() => answer(1, { confidence: 0.5 }), "completed", { threshold: 0.5 }],
      [() => answer(1), "completed", { threshold: 0.5 }],
    ];
    for (const [does, outcome, changes] of cases) {
      const { result, events, types } = await invoked(does, changes);
      expect(result.outcome).toBe(outcome);
      expect(types.at(-1)).toBe("agent.invocation.completed");
      expect(events.at(-1)?.payload).toMatchObject({ invocationId: "inv-1", outcome });
      expect(types.includes("agent.decided")).toBe(!["refused", "failed"].includes(outcome));
    }
  });

  test("costs what its calls cost, and nobody knows what when one price is unknown", async () => {
    const used = { provider: "p", model: "m", inputTokens: 1, outputTokens: 1 };
    const { result } = await invoked((_, watch) => {
      watch.usage({ ...used, costUsd: 0.25 });
      watch.usage(used);
      return answer(1);
    });
    expect(result.costUsd).toBeUndefined();
    expect((await invoked(() => answer(1))).result.costUsd).toBe(0);
  });

  test("that is aborted ends with the reason", async () => {
    const stop = new AbortController();
    const reason = new Error("cancelled");
    const call = invoked(
      () => {
        stop.abort(reason);
        return answer(1);
      },
      { signal: stop.signal },
    );
    await expect(call).rejects.toBe(reason);
  });
});
