import { afterEach, expect, test } from "vitest";
import { agentHost } from "../../testing/agent-nodes.ts";
import { ADA, begin, logOf, register, until } from "../../testing/engine.ts";
import { AGENT_ID, agentOf, agentsOf, echo } from "../../testing/eval-bench.ts";
import { callingProgram } from "../../testing/gateway-agent.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { toolGateway } from "../gateway/tool-gateway.ts";

const bench = workbench();
const gateway = toolGateway();
afterEach(() => gateway.close());

test("a program that a workflow asks reaches the live tools and the memory of its allow-list, and the log has each call", async () => {
  const toolAllowlist = ["shop:orders", "memory:put", "memory:list"];
  const agents = agentsOf([agentOf({ toolAllowlist, memoryShape: { longTerm: true } })], echo, {
    bindingFor: () => callingProgram(gateway),
    toolsFor: async () => ({
      tools: [{ name: "shop:orders", transport: "mcp" }],
      call: async (_, args) => ({ status: "ok", outcome: { live: args } }),
    }),
  });
  const { host } = agentHost(bench.store, agents);
  const inputs = { task: { type: "variable" as const, variableName: "calls" } };
  const nodes = { ask: { typeId: "assay.agent", agent: { agentId: AGENT_ID }, inputs } };
  const workflowId = await register(
    host,
    workflow({ id: "calling", nodes, variables: [{ name: "calls", type: "array" }] }),
  );
  const worker = bench.work(host);
  const calls = [
    { tool: "shop:orders", arguments: { id: 7 } },
    { tool: "memory:put", arguments: { content: "likes tea" } },
    { tool: "memory:list" },
    { tool: "shop:drop" },
  ];
  const runId = await begin({ ...host, localWorker: worker }, { workflowId, inputs: { calls } }, ADA);
  const run = await until(bench.store, runId, ended);
  const id = expect.stringMatching(/^mem-/);
  expect(run.nodes["ask"]?.outputs).toMatchObject({
    result: [{ live: { id: 7 } }, { id }, [], "tool_not_allowed"],
  });
  const log = await logOf(bench.store, runId);
  expect(log.filter(({ type }) => type === "agent.toolCalled").map(({ payload }) => payload)).toMatchObject([
    { toolName: "shop:orders", inputs: { id: 7 }, transport: "mcp", principal: "ada" },
    { toolName: "memory:put" },
    { toolName: "memory:list" },
  ]);
  expect(log.find(({ type }) => type === "memory.written")?.payload).toMatchObject({ memoryId: id });
  expect(JSON.stringify(log)).not.toContain("ASSAY_TOOLS_TOKEN");
});
