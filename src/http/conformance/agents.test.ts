import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ECHO_TOOL, withConformanceAgent } from "../../agents/conformance-agents.ts";
import { agentNode, RUN_API_NODE_TYPE } from "../../agents/nodes/agent-node.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { agentHost } from "../../testing/agent-nodes.ts";
import { agentsOn } from "../../testing/agents-on.ts";
import { expectError, type TestHost, testHost, type Who } from "../../testing/host.ts";

const SEAMS = "/v1/host/sample";
let host: TestHost;

beforeAll(async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const { host: engine, desk, mocks } = agentHost(store, withConformanceAgent(agentsOn(store)));
  const live = agentNode(engine, () => desk, RUN_API_NODE_TYPE);
  const nodeTypes = new Map([...engine.nodeTypes, [live.typeId, live]]);
  host = await testHost({ store, worker: true, host: { nodeTypes }, deps: { mocks } });
});
afterAll(() => host.close());

const ask = async (path: string, json: object, as: Who = "owner") => host.ask("POST", `${SEAMS}/${path}`, { json, as });
const logOf = async (runId: string): Promise<RunEventDoc[]> =>
  (await host.ask("GET", `/v1/runs/${runId}/events/poll`)).json().events;

describe("the seam that asks an agent", () => {
  test.each(["workflow-node", "run-api"])("brackets the invocation of a real run, as %s", async (source) => {
    const { runId, invocationId, outcome } = (await ask("agents/live-invoke", { source })).json();
    expect(outcome).toBe("completed");
    const log = await logOf(runId);
    const bracket = log.filter(({ type }) => type.startsWith("agent.invocation."));
    expect(bracket.map(({ payload }) => payload)).toMatchObject([
      { invocationId, source },
      { invocationId, outcome },
    ]);
    const types = log.map(({ type }) => type);
    expect(types.slice(2, -2)).toEqual([
      "agent.invocation.started",
      "agent.promptResolved",
      "agent.reasoning.delta",
      "agent.reasoned",
      "provider.usage",
      "agent.decided",
      "agent.invocation.completed",
    ]);
  });

  test("fails an answer that is not of the shape", async () => {
    const shaped = { returnSchemaRef: "schemas/answer.json" };
    expect((await ask("agents/live-invoke", shaped)).json()).toMatchObject({ outcome: "completed" });
    const { runId, outcome } = (await ask("agents/live-invoke", { ...shaped, forceInvalidResult: true })).json();
    expect(outcome).toBe("failed");
    expect((await host.ask("GET", `/v1/runs/${runId}`)).json()).toMatchObject({ status: "failed" });
  });

  test("calls no tool outside the list", async () => {
    const { runId } = (await ask("agents/live-invoke", { attemptTool: "vendor:shell" })).json();
    expect((await logOf(runId)).map(({ type }) => type)).not.toContain("agent.toolCalled");
    const hooks = await ask("toolhooks/invoke", { toolName: "vendor:shell" });
    expect(hooks.json()).toMatchObject({ called: false, toolReturned: { status: "forbidden" } });
    const allowed = (await ask("toolhooks/invoke", { toolId: ECHO_TOOL, args: { a: 1 } })).json();
    expect(allowed).toMatchObject({ called: true, toolReturned: { status: "ok" } });
    expect(allowed.toolCalled).toMatchObject({ principal: "ada", transport: "native" });
    expect(allowed.toolCalled.argsHash).toMatch(/^[0-9a-f]{64}$/);
    expectError(await ask("toolhooks/invoke", {}), "validation_error");
  });

  test("refuses an agent that is not there, and a source that is not served", async () => {
    expectError(await ask("agents/live-invoke", { agentId: "core.nobody.here" }), "validation_error");
    expectError(await ask("agents/live-invoke", { source: "chat-mention" }), "validation_error");
  });

  test("makes runs that nobody else sees", async () => {
    const { runId } = (await ask("agents/live-invoke", {}, "other")).json();
    expectError(await host.ask("GET", `/v1/runs/${runId}`), "not_found");
  });
});

describe("staged answers", () => {
  const program = (json: object, as?: Who) => ask("test/mock-ai/program", json, as);
  const definition = (id: string) => ({
    id,
    name: id,
    version: "1",
    nodes: [
      {
        id: "call",
        typeId: "core.ai.structuredOutput",
        name: "call",
        position: { x: 0, y: 0 },
        config: { provider: "mock", outputSchema: { type: "object", required: ["n"] }, retryOnInvalidJson: 0 },
        inputs: {},
      },
    ],
    edges: [],
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [],
    metadata: {},
    settings: {},
  });
  const outcome = async (as: Who = "owner") => {
    const id = `structured-${as}`;
    await host.ask("POST", "/v1/workflows", { json: definition(id), as });
    const { runId } = (await host.ask("POST", "/v1/runs", { json: { workflowId: id }, as })).json();
    for (;;) {
      const { status, error, outputs } = (await host.ask("GET", `/v1/runs/${runId}`, { as })).json();
      if (status === "completed" || status === "failed") return error?.code ?? outputs;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };

  test("are given once each, to the tenant that staged them, until they are cleared", async () => {
    expect((await program({ nodeId: "call", program: [{ json: { n: 1 } }, { text: "prose" }] })).json()).toEqual({
      nodeId: "call",
      staged: 2,
    });
    expect(await outcome("other")).toBe("agent_not_configured");
    expect(await outcome()).toBeDefined();
    expect(await outcome()).toBe("agent_not_configured");
    await program({ nodeId: "call", program: [{ stopReason: "safety", refusalText: "no" }, { json: { n: 1 } }] });
    expect(await outcome()).toBe("envelope_refusal");
    await host.ask("POST", `${SEAMS}/test/reset`);
    expect(await outcome()).toBe("agent_not_configured");
  });
});

describe("the other seams of agents", () => {
  test("write provider usage as it is posted", async () => {
    const usage = { provider: "acme", model: "m-1", inputTokens: 5, outputTokens: 7 };
    const { runId, event } = (await ask("test/emit-provider-usage", usage)).json();
    expect(event).toMatchObject({ runId, type: "provider.usage", payload: usage });
    expect(Object.keys(event.payload)).toEqual(Object.keys(usage));
  });

  test("say what is served, and give requests that mean the same one key", async () => {
    expect((await ask("test/surface", { surface: "memory" })).json()).toEqual({ surface: "memory", supported: true });
    expectError(await ask("test/surface", { surface: "kvStorage" }), "not_found");
    expectError(await ask("test/surface", { surface: "memory", op: "list" }), "validation_error");
    const key = async (json: object) => (await ask("test/llm-cache-key", json)).json().cacheKey;
    const messages = [{ role: "user", content: "why" }];
    const one = await key({ provider: "acme", model: "m-1", request: { messages, stream: true } });
    expect(await key({ request: { messages }, model: "m-1", provider: "acme" })).toBe(one);
    expect(await key({ provider: "acme", model: "m-2", request: { messages } })).not.toBe(one);
  });

  test.each([
    "agents/live-invoke",
    "toolhooks/invoke",
    "test/mock-ai/program",
    "test/emit-provider-usage",
    "test/surface",
    "test/llm-cache-key",
  ])("are closed to whoever has no key, and gone without the seams: %s", async (path) => {
    const bare = await host.app.inject({ method: "POST", url: `${SEAMS}/${path}`, payload: {} });
    expect(bare.statusCode).toBe(401);
    const without = await testHost({ capabilities: ["agents"] });
    expect((await without.ask("POST", `${SEAMS}/${path}`, { json: {} })).statusCode).toBe(404);
    await without.close();
  });
});
