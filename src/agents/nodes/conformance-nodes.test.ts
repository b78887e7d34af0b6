import { describe, expect, test } from "vitest";
import { resolveInterrupt } from "../../engine/gates/resolve-interrupt.ts";
import { MemoryEntry } from "../../protocol/agents/api.ts";
import { EVENTS, type RunEventDoc } from "../../protocol/events.ts";
import { matches } from "../../protocol/schema.ts";
import { agentHost } from "../../testing/agent-nodes.ts";
import { ADA, begin, logOf, register, until } from "../../testing/engine.ts";
import { agentOf, agentsOf, type Behaviour, echo } from "../../testing/eval-bench.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { type WorkflowSpec, workflow } from "../../testing/workflow.ts";
import { TEST_SECRET } from "./identity-node.ts";

const bench = workbench();

type Node = WorkflowSpec["nodes"][string];

const bold = { ...agentOf({ agentId: "core.test.bold" }), confidenceThreshold: 0.3 };

async function ran(node: Node, request: object = {}, behave: Behaviour = echo) {
  const rememberer = agentOf({ agentId: "core.test.rememberer", memoryShape: { longTerm: true } });
  const agents = agentsOf([rememberer, bold], behave);
  const { host } = agentHost(bench.store, agents, { probes: { secrets: [TEST_SECRET] } });
  const workflowId = await register(host, workflow({ nodes: { n: node } }));
  bench.work(host);
  const runId = await begin(host, { workflowId, ...request });
  const run = await until(bench.store, runId, (one) => ended(one) || one.status === "waiting-approval");
  const log = await logOf(bench.store, runId);
  for (const { type, payload } of log) {
    expect(matches(EVENTS[type as keyof typeof EVENTS].payload, payload), type).toBe(true);
  }
  return { host, run, log, types: log.map(({ type }) => type) };
}

const payloads = (log: readonly RunEventDoc[], type: string) =>
  log.filter((event) => event.type === type).map(({ payload }) => payload as Record<string, unknown>);

const mock = (config: object, more: object = {}): Node =>
  ({ typeId: "core.conformance.mock-agent", config, ...more }) as Node;

describe("the mock agent", () => {
  test("says everything in the order of the protocol", async () => {
    const { run, types, log } = await ran(
      mock(
        {
          mockReasoning: { summary: "short", streamChunks: ["first, ", "then"] },
          mockToolCalls: [
            { toolId: "a:b", arguments: { x: 1 }, result: { y: 2 }, durationMs: 3 },
            { toolId: "a:c", error: { error: "nope", message: "it broke" } },
          ],
          mockHandoff: { toAgentId: "core.test.other", reason: "because" },
          mockDecision: { decision: { next: "done" }, confidence: 1 },
        },
        { agent: { agentId: "core.test.named" } },
      ),
    );
    expect(run.status).toBe("completed");
    expect(types.slice(2, -2)).toEqual([
      "agent.reasoning.delta",
      "agent.reasoning.delta",
      "agent.reasoned",
      "agent.toolCalled",
      "agent.toolReturned",
      "agent.toolCalled",
      "agent.toolReturned",
      "agent.handoff",
      "agent.decided",
    ]);
    expect(payloads(log, "agent.reasoning.delta").map(({ sequence }) => sequence)).toEqual([0, 1]);
    expect(payloads(log, "agent.reasoned")).toMatchObject([{ reasoning: "first, then", agentId: "core.test.named" }]);
    const called = log.filter(({ type }) => type === "agent.toolCalled");
    const returned = log.filter(({ type }) => type === "agent.toolReturned");
    expect(returned.map(({ causationId }) => causationId)).toEqual(called.map(({ eventId }) => eventId));
    expect(payloads(log, "agent.toolReturned")).toMatchObject([
      { outcome: { y: 2 }, durationMs: 3 },
      { error: { code: "nope", message: "it broke" } },
    ]);
    expect(new Set(payloads(log, "agent.toolCalled").map(({ callId }) => callId)).size).toBe(2);
  });

  test("that is not sure waits, and says it all only once", async () => {
    const { host, run, log } = await ran(mock({ mockReasoning: true, mockConfidence: 0.5 }));
    expect(run.status).toBe("waiting-approval");
    expect(payloads(log, "node.suspended")).toMatchObject([
      { reason: "low-confidence", agentId: "host:mock-agent:n", threshold: 0.7, observed: 0.5 },
    ]);
    const { runId } = run;
    const value = { action: "accept" };
    await resolveInterrupt(host, { caller: ADA, runId, of: { nodeId: "n" }, value, record: () => undefined });
    expect((await until(bench.store, runId, ended)).status).toBe("completed");
    expect(payloads(await logOf(bench.store, runId), "agent.decided")).toHaveLength(1);
  });

  test("is sure by the threshold of the run", async () => {
    const { run } = await ran(mock({ mockConfidence: 0.5 }), { configurable: { escalationThreshold: 0.5 } });
    expect(run.status).toBe("completed");
  });

  test.each([
    [mock({ agentId: "core.test.bold", mockConfidence: 0.3 }), {}, "completed"],
    [mock({ mockConfidence: 0.3 }, { agent: { agentId: "core.test.bold" } }), {}, "completed"],
    [mock({ mockConfidence: 0.29 }, { agent: { agentId: "core.test.bold" } }), {}, "waiting-approval"],
    [mock({ agentId: "core.test.unknown", mockConfidence: 0.69 }), {}, "waiting-approval"],
    [mock({ agentId: "core.test.bold", mockConfidence: 0.3 }), { escalationThreshold: 0.4 }, "waiting-approval"],
  ])("is sure by the threshold of the manifest where the run has none: %#", async (node, configurable, status) => {
    expect((await ran(node, { configurable })).run.status).toBe(status);
  });

  test("is not sure again after somebody was asked, whatever the manifest says by then", async () => {
    const { host, run } = await ran(mock({ agentId: bold.agentId, mockConfidence: 0.2 }));
    bold.confidenceThreshold = 0.1;
    const { runId } = run;
    const value = { action: "reject" };
    await resolveInterrupt(host, { caller: ADA, runId, of: { nodeId: "n" }, value, record: () => undefined });
    const { status, error } = await until(bench.store, runId, ended);
    bold.confidenceThreshold = 0.3;
    expect([status, error?.code]).toEqual(["failed", "approval_rejected"]);
  });

  test.each([
    ["a call without an end", { mockToolCalls: [{ toolId: "a:b" }] }],
    ["a call with two", { mockToolCalls: [{ toolId: "a:b", result: 1, error: { error: "e", message: "m" } }] }],
    ["a key that it does not know", { mockMood: "fine" }],
  ])("is refused for %s", async (_, config) => {
    await expect(ran(mock(config))).rejects.toMatchObject({ code: "validation_error" });
  });
});

describe("a prompt", () => {
  const tokens = ["Hel", "lo ", "you"];

  test("is answered by the tokens that the run brings, one chunk for each", async () => {
    const config = { tokens, usage: { promptTokens: 4, completionTokens: 3 }, finishReason: "stop", model: "m-1" };
    const { run, log } = await ran(
      { typeId: "core.ai.callPrompt", config: { promptId: "p" } },
      { configurable: { mockProvider: { id: "stream-text", config } } },
    );
    expect(run.status).toBe("completed");
    const chunks = payloads(log, "output.chunk");
    expect(chunks.map(({ chunk }) => chunk)).toEqual(tokens);
    expect(chunks.map(({ isLast }) => isLast)).toEqual([false, false, true]);
    const usage = { promptTokens: 4, completionTokens: 3, totalTokens: 7 };
    expect(chunks.at(-1)).toMatchObject({ meta: { finishReason: "stop", model: "m-1", usage } });
    expect(payloads(log, "provider.usage")).toMatchObject([{ provider: "mock", inputTokens: 4, outputTokens: 3 }]);
    expect(run.nodes["n"]?.outputs).toEqual({ text: "Hello you", usage });
  });

  test("shows no secret, however it was cut into tokens", async () => {
    const secret = "sk-proj-Ab3dE6gH9jK2mN5pQ8sT1vW4";
    const config = { tokens: secret.match(/.{1,5}/g) };
    const request = { configurable: { mockProvider: { id: "stream-text", config } } };
    const { log } = await ran({ typeId: "core.ai.callPrompt" }, request);
    const shown = payloads(log, "output.chunk").map(({ chunk }) => chunk);
    expect(shown.join("")).not.toContain(secret);
  });

  test("is asked of a model of its class, and fails with what the model fails with", async () => {
    const asked: unknown[] = [];
    const node = { typeId: "core.ai.callPrompt", config: { prompt: "Why?" } };
    const { run } = await ran(node, {}, ({ input }) => {
      asked.push(input);
      return { type: "completed", output: "because" };
    });
    expect(asked).toEqual(["Why?"]);
    expect(run.nodes["n"]?.outputs).toEqual({ text: "because" });
    const overridden = { configurable: { promptOverrides: { p: "How?" } } };
    await ran({ typeId: "core.ai.callPrompt", config: { promptId: "p", prompt: "Why?" } }, overridden, ({ input }) => {
      asked.push(input);
      return { type: "refused", reason: "no" };
    });
    expect(asked[1]).toBe("How?");
  });

  test.each(["systemPromptRef", "mcp"])("with %s is refused rather than asked without it", async (key) => {
    const node = { typeId: "core.ai.callPrompt", config: { [key]: "x" } };
    await expect(ran(node)).rejects.toMatchObject({ code: "capability_required" });
  });

  test("of an unknown mock provider is refused", async () => {
    const request = { configurable: { mockProvider: { id: "nobody" } } };
    await expect(ran({ typeId: "core.ai.callPrompt" }, request)).rejects.toMatchObject({
      code: "unsupported_mock_provider",
    });
  });
});

describe("an identity with a memory action", () => {
  const node = (config: object, more: object = {}): Node =>
    ({
      typeId: "core.identity",
      config,
      agent: { agentId: "core.test.rememberer", memoryRef: "conformance/memory" },
      ...more,
    }) as Node;

  test("reads back what it wrote, and the log says only that it did", async () => {
    const { run, log, types } = await ran(node({ memoryAction: "write-then-read" }));
    const entry = run.variables["memoryReadback"] as MemoryEntry;
    expect(matches(MemoryEntry, entry)).toBe(true);
    expect(payloads(log, "memory.written")).toEqual([
      {
        memoryRef: "conformance/memory",
        memoryId: entry.id,
        nodeId: "n",
        agentId: "core.test.rememberer",
        tags: ["conformance"],
      },
    ]);
    expect(payloads(log, "agent.invocation.started")).toMatchObject([{ resolvedAgentVersion: "1.0.0" }]);
    expect(types.slice(2, 5)).toEqual(["agent.invocation.started", "memory.written", "agent.invocation.completed"]);
  });

  test("does not get what is over", async () => {
    const { run } = await ran(node({ memoryAction: "ttl-probe" }));
    expect(run.variables["memoryList"]).toMatchObject([{ tags: ["future"] }]);
  });

  test("finds the name of a secret where the secret was", async () => {
    const { run, log } = await ran(node({ memoryAction: "redaction-probe", byokSecretId: TEST_SECRET.id }));
    const { content } = run.variables["memoryReadback"] as MemoryEntry;
    expect(content).toContain(`[REDACTED:${TEST_SECRET.id}]`);
    expect(JSON.stringify(log)).not.toContain(TEST_SECRET.value);
  });

  test("sees nothing of somebody else", async () => {
    const probe = { memoryAction: "cross-tenant-probe", probeMemoryRef: "conformance/another-tenant/agent-memory" };
    const { run } = await ran(node(probe, { agent: undefined }));
    expect(run.variables["crossTenantProbe"]).toEqual([]);
  });

  test("that nobody knows is refused", async () => {
    await expect(ran(node({ memoryAction: "guess" }))).rejects.toMatchObject({ code: "validation_error" });
  });
});
