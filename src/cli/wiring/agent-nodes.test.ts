import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InstalledAgent } from "../../agents/installed-agent.ts";
import { cancelRun } from "../../engine/change-run.ts";
import type { Host } from "../../engine/host.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import { begin, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { agentOf } from "../../testing/eval-bench.ts";
import { mcpProgram } from "../../testing/mcp-program.ts";
import { ModelServer } from "../../testing/model-server.ts";
import { chatStream } from "../../testing/model-streams.ts";
import { DONE, next, orchestrated } from "../../testing/orchestration.ts";
import { change, ended } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { defaultConfig } from "../config.ts";
import type { Config } from "../settings.ts";
import { agentServices } from "./agents.ts";
import { buildHost } from "./build-host.ts";
import { processScrubber } from "./process-scrubber.ts";

let store: Store;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await store.close();
});

const AGENT = "local.test.asked";

/** A process with this agents fileand this agent installed. */
async function hostWith(file: object, agent: Partial<InstalledAgent> = {}, more: Partial<Config> = {}): Promise<Host> {
  const agents = join(mkdtempSync(join(tmpdir(), "agents-")), "agents.json");
  writeFileSync(agents, JSON.stringify(file));
  const config: Config = { ...defaultConfig(), agents, ...more };
  const scrubber = await processScrubber(config);
  const services = agentServices(store, config, scrubber);
  closing.push(() => services.tools.close());
  const installed = agentOf({ agentId: AGENT, ...agent });
  const { agents: known } = services;
  const versionsOf: typeof known.versionsOf = async (visible, agentId) =>
    agentId === AGENT ? [installed] : known.versionsOf(visible, agentId);
  return buildHost(store, config, scrubber, { ...services, agents: { ...known, versionsOf } });
}

async function started(host: Host): Promise<string> {
  const worker = workerOn(host);
  closing.push(() => worker.stop(0));
  const inputs = { task: { type: "static", value: "what time is it?" } } as const;
  const nodes = { ask: { typeId: "assay.agent", agent: { agentId: AGENT }, inputs } };
  return begin(host, { workflowId: await register(host, workflow({ nodes })) });
}

const payloads = (log: readonly RunEventDoc[], type: string) =>
  log.filter((event) => event.type === type).map(({ payload }) => payload as Record<string, unknown>);

async function eventually<T>(look: () => T | undefined): Promise<T> {
  for (let i = 0; i < 1000; i++) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("it never came");
}

describe("an agent of a process", () => {
  test("asks its model, calls its tools, and says what it says while it says it", async () => {
    const server = await ModelServer.start((_, calls) =>
      calls.length === 1
        ? chatStream({ text: ["Let me ", "look. "], calls: [{ name: "mcp_box_echo", args: '{"text":"noon"}' }] })
        : chatStream({ text: ["It is ", "noon."] }),
    );
    closing.push(() => server.close());
    const { entry } = mcpProgram();
    const model = { provider: "openai-compatible", baseUrl: server.url, model: "m" };
    const file = { models: { local: model }, modelClasses: { general: "local" }, tools: { mcp: [entry] } };
    const host = await hostWith(file, { toolAllowlist: ["mcp:box/echo"] });
    const runId = await started(host);
    const run = await until(store, runId, ended);
    expect(run.nodes["ask"]?.outputs).toMatchObject({ result: "It is noon.", outcome: "completed" });
    const log = await logOf(store, runId);
    expect(payloads(log, "output.chunk")).toMatchObject([
      { chunk: "Let me look. ", isLast: true, meta: { finishReason: "tool-calls" } },
      { chunk: "It is noon.", isLast: true, meta: { finishReason: "stop" } },
    ]);
    expect(payloads(log, "agent.toolCalled")).toMatchObject([
      { toolName: "mcp:box/echo", inputs: { text: "noon" }, transport: "mcp", principal: "ada" },
    ]);
    expect(payloads(log, "agent.toolReturned")).toMatchObject([{ status: "ok", outcome: "you said noon" }]);
    expect(payloads(log, "provider.usage")).toHaveLength(2);
  });

  test("that is a program ends with its run", async () => {
    const notes = join(mkdtempSync(join(tmpdir(), "program-")), "pid");
    const program = `require("node:fs").writeFileSync(${JSON.stringify(notes)}, String(process.pid)); setInterval(() => {}, 1e6)`;
    const binding = { type: "command", program: process.execPath, args: ["-e", program], killMs: 100 };
    const host = await hostWith({ bindings: { [AGENT]: binding } });
    const runId = await started(host);
    const pid = await eventually(() =>
      existsSync(notes) ? Number(readFileSync(notes, "utf8")) || undefined : undefined,
    );
    await cancelRun(host, change(runId));
    expect((await until(store, runId, ended)).status).toBe("cancelled");
    await eventually(() => {
      try {
        process.kill(pid, 0);
        return undefined;
      } catch {
        return true;
      }
    });
  });

  const leads = async (host: Host) => {
    const worker = workerOn(host);
    closing.push(() => worker.stop(0));
    await register(host, workflow({ id: "one", nodes: { only: "core.noop" } }));
    const boss = { agent: { agentId: AGENT }, config: { workers: [{ workflowId: "one" }] } };
    const runId = await begin(host, { workflowId: await register(host, orchestrated({ boss })) });
    return until(store, runId, (run) => ended(run) || run.status === "waiting-approval");
  };

  test("leads workers as its script says", async () => {
    const script = { sequence: [{ output: next("one") }, { output: DONE }] };
    const run = await leads(await hostWith({ bindings: { [AGENT]: { type: "scripted", script } } }));
    expect(run).toMatchObject({ status: "completed", orchestrator: { agentId: AGENT, turns: 2 } });
    expect(Object.values(run.children)).toMatchObject([{ workflowId: "one", status: "completed" }]);
  });

  test("that is a model says with its decision how sure it is", async () => {
    const decision = JSON.stringify({ ...next("one"), confidence: 0.6 });
    const server = await ModelServer.start(() => chatStream({ text: [decision] }));
    closing.push(() => server.close());
    const model = { provider: "openai-compatible", baseUrl: server.url, model: "m" };
    const run = await leads(await hostWith({ models: { local: model }, modelClasses: { general: "local" } }));
    expect(run).toMatchObject({ status: "waiting-approval", children: {} });
    expect(Object.values(run.interrupts)[0]?.data).toMatchObject({ threshold: 0.7, observed: 0.6 });
  });

  test("that nobody says how to call fails its run", async () => {
    const run = await until(store, await started(await hostWith({})), ended);
    expect(run).toMatchObject({ status: "failed", error: { code: "agent_not_configured" } });
  });
});

describe("a process", () => {
  const refused = (host: Host, node: object) => register(host, workflow({ nodes: { a: node as never } }));
  const agent = { agentId: AGENT };
  const lacking = { code: "capability_required" };

  test.each(["assay.agent", "core.identity", "core.orchestrator.supervisor", "core.ai.callPrompt"])(
    "that serves no agents takes no %s that asks one",
    async (typeId) => {
      const host = await hostWith({}, {}, { disable: ["agents"] });
      await expect(
        refused(host, { typeId, ...(typeId === "core.ai.callPrompt" ? {} : { agent }) }),
      ).rejects.toMatchObject(lacking);
    },
  );

  test.each([
    { typeId: "core.conformance.mock-agent" },
    { typeId: "core.conformance.live-agent", agent },
    { typeId: "core.identity", config: { memoryAction: "write-then-read" } },
    { typeId: "assay.agent", agent: { agentId: "core.conformance.live-agent" } },
  ])("that nobody watches by the seams has nothing of theirs: %j", async (node) => {
    const code = node.typeId === "assay.agent" ? "validation_error" : "capability_required";
    await expect(refused(await hostWith({}), node)).rejects.toMatchObject({ code });
    await expect(refused(await hostWith({}, {}, { conformanceSeams: true }), node)).resolves.toBeDefined();
  });
});
