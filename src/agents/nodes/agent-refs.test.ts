import { describe, expect, test } from "vitest";
import { agentHost } from "../../testing/agent-nodes.ts";
import { ASK, payloadsOf, questions } from "../../testing/agent-questions.ts";
import { begin, register, until } from "../../testing/engine.ts";
import { AGENT_ID, agentOf, agentsOf, echo } from "../../testing/eval-bench.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { ChannelResolver } from "../agents.ts";

const bench = workbench();
const { asked } = questions(bench);

describe("which agent is meant", () => {
  const versions = [agentOf({ version: "2.0.0" }), agentOf({ version: "1.0.0" })];
  const channels = (version: string | undefined): ChannelResolver & { asked: number } => ({
    asked: 0,
    async versionFor() {
      this.asked += 1;
      return version;
    },
    isActive: async () => version !== undefined,
  });

  test.each([
    ["the highest version there is", {}, undefined, "2.0.0"],
    ["the highest that is deployed for all runs", {}, ["1.0.0"], "1.0.0"],
    ["the one that is named", { version: "1.0.0" }, ["2.0.0"], "1.0.0"],
  ])("is %s", async (_, ref, active, version) => {
    const { log } = await asked({
      agents: { versionsOf: async () => versions, unnamedVersions: async () => active },
      node: { agent: { agentId: AGENT_ID, ...ref } },
    });
    expect(payloadsOf(log, "agent.invocation.started")).toMatchObject([{ resolvedAgentVersion: version }]);
  });

  test("is what its channel was when the run first needed it, for all of its nodes", async () => {
    const resolver = channels("1.0.0");
    const node = { ...ASK, agent: { agentId: AGENT_ID, channel: "stable" } };
    const { log } = await asked({
      agents: { versionsOf: async () => versions },
      desk: { channels: resolver },
      workflow: { nodes: { ask: node, again: { ...node, typeId: "core.identity" } }, edges: ["ask>again"] },
    });
    const about = { resolvedAgentVersion: "1.0.0", resolvedChannel: "stable" };
    expect(payloadsOf(log, "agent.invocation.started")).toMatchObject([about, about]);
    expect(resolver.asked).toBe(1);
  });

  test("is one version for nodes that ask at the same time, while the channel changes", async () => {
    const answers = ["1.0.0", "2.0.0", "2.0.0"];
    let all = () => {};
    const allAsked = new Promise<void>((resolve) => {
      all = resolve;
    });
    const changing: ChannelResolver = {
      async versionFor() {
        const version = answers.shift();
        if (answers.length === 0) all();
        await allAsked;
        return version;
      },
      isActive: async () => true,
    };
    const node = { ...ASK, agent: { agentId: AGENT_ID, channel: "stable" } };
    const { log } = await asked({
      agents: { versionsOf: async () => versions },
      desk: { channels: changing },
      workflow: { nodes: { ask: node, too: node, third: { ...node, typeId: "core.identity" } }, edges: [] },
    });
    expect(payloadsOf(log, "assay.agent.pinned")).toEqual([{ agentId: AGENT_ID, channel: "stable", version: "1.0.0" }]);
    const started = payloadsOf(log, "agent.invocation.started") as { resolvedAgentVersion: string }[];
    expect(started.map(({ resolvedAgentVersion }) => resolvedAgentVersion)).toEqual(["1.0.0", "1.0.0", "1.0.0"]);
  });

  test("must be known before there is a run, as far as it can be", async () => {
    const node = { agent: { agentId: AGENT_ID, channel: "stable" } };
    await expect(asked({ node, desk: { channels: channels(undefined) } })).rejects.toMatchObject({
      code: "no_active_deployment",
    });
    await expect(asked({ node })).rejects.toThrow(/agents.deployment/);
    await expect(asked({ node: { agent: { agentId: "local.test.nobody" } } })).rejects.toThrow(/not installed/);
    await expect(asked({ node: { agent: { agentId: AGENT_ID, version: "9.9.9" } } })).rejects.toThrow(/9.9.9/);
    const both = { agentId: AGENT_ID, version: "1.0.0", channel: "stable" };
    await expect(asked({ node: { agent: both }, desk: { channels: channels("1.0.0") } })).rejects.toThrow(
      /one of them/,
    );
    const spec = { nodes: { ask: "assay.agent" } };
    await expect(asked({ workflow: spec })).rejects.toThrow(/must name an agent/);
    await expect(asked({ node: { typeId: "core.noop" } })).rejects.toMatchObject({ code: "capability_required" });
  });

  test.each([
    { agentId: "ab" },
    { agentId: "x".repeat(257) },
    { agentId: AGENT_ID, modelClass: "general" },
    { agentId: AGENT_ID, temperature: 1 },
    {},
  ])("is not said by %j", async (agent) => {
    await expect(asked({ node: { agent: agent as never } })).rejects.toMatchObject({ code: "validation_error" });
  });

  test("fails the run when it is gone by then", async () => {
    const installed = [agentOf()];
    const { store } = bench;
    const { host } = agentHost(store, agentsOf([], echo, { versionsOf: async () => installed }));
    const workflowId = await register(host, workflow({ nodes: { ask: ASK } }));
    const runId = await begin(host, { workflowId });
    installed.pop();
    bench.work(host);
    expect(await until(store, runId, ended)).toMatchObject({
      status: "failed",
      error: { code: "agent_not_installed" },
    });
  });
});
