import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { InstalledAgent } from "../../agents/agents.ts";
import { auditSigner } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import { cancelRun } from "../../engine/runs/change-run.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { createEvalRun } from "../../evals/run/create-eval-run.ts";
import { EVAL_NODE_TYPE, evalWorkflow } from "../../evals/run/eval-plan.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA, begin, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { agentOf } from "../../testing/eval-bench.ts";
import { mcpProgram } from "../../testing/mcp-program.ts";
import { ModelServer } from "../../testing/model-server.ts";
import { chatStream } from "../../testing/model-streams.ts";
import { DONE, next, orchestrated } from "../../testing/orchestration.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { change, ended } from "../../testing/workbench.ts";
import { type WorkflowSpec, workflow } from "../../testing/workflow.ts";
import { defaultConfig } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { agentServices, evalSettings } from "./agents.ts";
import { buildHost } from "./build-host.ts";
import { httpSettings } from "./listen.ts";
import { checkPackFolders, installEverywhere, packDesk, packTrust } from "./pack-folders.ts";
import { processScrubber } from "./process-scrubber.ts";

let host: Host;
beforeEach(async () => {
  host = await buildHost(await openSqliteStore({ path: ":memory:" }), defaultConfig());
});
afterEach(() => host.store.close());

describe("what a process is told of evaluations", () => {
  test("has no cap on cost unless one is set, and never more tasks at once than it allows", () => {
    const config = defaultConfig();
    expect(evalSettings(config)).toEqual({
      maxTasksPerSuite: 10_000,
      concurrency: 4,
      maxConcurrency: 64,
      maxTrials: 100,
      cacheMs: 30 * 86_400_000,
    });
    const narrow = evalSettings({ ...config, maxCostUsdPerSuite: "2.50", maxEvalConcurrency: 2 });
    expect(narrow).toMatchObject({ maxCostUsdPerSuite: 2.5, concurrency: 2, maxConcurrency: 2 });
  });

  test("is of no use without agents", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const { capabilities } = await buildHost(store, { ...defaultConfig(), disable: ["agents"] });
    expect([capabilities.has("agents"), capabilities.has("evalSuite")]).toEqual([false, false]);
    await store.close();
  });
});

test("a server of tools is told none of the keys that the agents file names for others", async () => {
  vi.stubEnv("MODEL_KEY", "of a model");
  const { entry, lines } = mcpProgram();
  const agents = join(tempDir(), "agents.json");
  const models = { m: { provider: "anthropic", model: "m", apiKeyEnv: "MODEL_KEY" } };
  writeFileSync(agents, JSON.stringify({ models, tools: { mcp: [entry] } }));
  const { tools } = agentServices(host.store, { ...defaultConfig(), agents }, { scrubText: (text) => text });
  await tools.toolsFor({ toolAllowlist: ["mcp:box/echo"] }, new AbortController().signal, "default");
  await tools.close();
  vi.unstubAllEnvs();
  expect(lines()).toEqual([expect.stringMatching(/^started \d+ no key/)]);
});

describe("the node that evaluates", () => {
  test("is in no workflow that somebody registers", async () => {
    const definition = workflow({ id: "mine", nodes: { a: EVAL_NODE_TYPE } });
    const text = JSON.stringify(definition);
    const registering = registerWorkflow(host, { caller: ADA, definition, text, record: () => undefined });
    await expect(registering).rejects.toMatchObject({ code: "capability_required" });
  });

  test("is not reached by starting the host's own workflow, nor by dispatching it", async () => {
    const workflows = await evalWorkflow(host.store, "t1", 0);
    await host.store.commit({ tenant: "t1", workflows });
    await expect(begin(host, { workflowId: EVAL_WORKFLOW_ID, inputs: { plan: {} } })).rejects.toMatchObject({
      code: "validation_error",
    });
    const nodes = {
      a: { typeId: "core.subWorkflow", config: { workflowId: EVAL_WORKFLOW_ID, waitForCompletion: true } },
    };
    await register(host, workflow({ id: "around", nodes }));
    const worker = workerOn(host);
    const runId = await begin(host, { workflowId: "around" });
    const run = await until(host.store, runId, ({ status }) => status === "failed");
    expect(run.error).toMatchObject({ code: "child_not_started", message: expect.stringContaining("no workflow") });
    await worker.stop(0);
  });
});

describe("the example", () => {
  const examples = fileURLToPath(new URL("../../../examples/agents", import.meta.url));

  test("brings an agent that is installed, called as its file says, and passes its suite", async () => {
    const { store } = host;
    const config: Config = { ...defaultConfig(), agents: join(examples, "agents.json"), allowUnsigned: true };
    const services = agentServices(store, config, host.scrubber);
    const own = await buildHost(store, config, undefined, services);
    const audit = { verifier: await auditSigner(store), intervalEntries: 1, intervalSeconds: 1 };
    const deps = { host: own, version: "0", settings: httpSettings(config), audit, evals: services };
    const { packs, skipped } = await checkPackFolders(own, packDesk(deps, packTrust(config)), [
      join(examples, "packs"),
    ]);
    expect(skipped).toEqual([]);
    expect(await installEverywhere(own, packs)).toEqual([]);

    const worker = workerOn(own);
    const agentId = "local.acme.support.refunds";
    const [agent] = await services.agents.versionsOf({ tenant: "acme" }, agentId);
    const request = { mode: "eval" as const, evalSuiteRef: agent?.evalSuiteRef ?? "", agentId };
    const command = { caller: { ...ADA, tenant: "acme" }, request, dedup: false, record: () => undefined };
    const { runId } = await createEvalRun(own, services, command);
    const { status, outputs } = await until(
      store,
      runId,
      (run) => ["completed", "failed"].includes(run.status),
      "acme",
    );
    expect(status).toBe("completed");
    expect(JSON.stringify(outputs)).toContain('"passedCount":3');
    await worker.stop(0);
  });
});

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

async function started(host: Host, request: object = {}, more: WorkflowSpec["nodes"] = {}): Promise<string> {
  const worker = workerOn(host);
  closing.push(() => worker.stop(0));
  const inputs = { task: { type: "static", value: "what time is it?" } } as const;
  const nodes = { ask: { typeId: "assay.agent", agent: { agentId: AGENT }, inputs }, ...more };
  return begin(host, { workflowId: await register(host, workflow({ nodes })), ...request });
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
    const file = {
      models: { local: model },
      modelClasses: { general: "local" },
      tools: { mcp: [{ ...entry, tenants: ["*"] }] },
    };
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

  test("asks the model that the run wants, as the run wants it asked, or none", async () => {
    const server = await ModelServer.start(() => chatStream({ text: ["fine"] }));
    closing.push(() => server.close());
    const model = { provider: "openai-compatible", baseUrl: server.url, temperature: 0.9 };
    const models = { small: { ...model, model: "m-1" }, large: { ...model, model: "m-2", providerName: "other" } };
    const file = { models, modelClasses: { general: "small" } };
    const host = await hostWith(file);
    const ran = async (configurable: object) => {
      const before = server.calls.length;
      const runId = await started(
        host,
        { configurable },
        { say: { typeId: "core.ai.callPrompt", config: { prompt: "x" } } },
      );
      const run = await until(store, runId, ended);
      const bodies = server.calls
        .slice(before)
        .map(({ body }) => [body["model"], body["temperature"], body["max_tokens"]]);
      return { run, bodies, invoked: payloads(await logOf(store, runId), "agent.invocation.started") };
    };
    const twice = <T>(one: T): T[] => [one, one];
    expect((await ran({})).bodies).toEqual(twice(["m-1", 0.9, undefined]));
    for (const ai of [{ model: "large" }, { model: "m-2" }, { provider: "other" }]) {
      const { bodies, invoked } = await ran({ ai, model: "small", temperature: 0.3, maxTokens: 77 });
      expect(bodies).toEqual(twice(["m-2", 0.3, 77]));
      expect(invoked).toMatchObject([{ resolvedModel: "m-2", resolvedProvider: "other" }]);
    }
    expect((await ran({ model: "m-2" })).bodies).toEqual(twice(["m-2", 0.9, undefined]));
    for (const ai of [
      { model: "m-3" },
      { provider: "nobody" },
      { provider: "other", model: "m-1" },
      { credentialRef: "c" },
    ]) {
      const { run, bodies } = await ran({ ai });
      expect(run).toMatchObject({ status: "failed", error: { code: "agent_not_configured" } });
      expect(bodies).toEqual([]);
    }
  });

  test("that is no model is called as ever, whichever model the run wants", async () => {
    const script = { default: { output: "as ever" } };
    const host = await hostWith({ bindings: { [AGENT]: { type: "scripted", script, tenants: ["*"] } } });
    const configurable = { ai: { model: "m-3", credentialRef: "c" } };
    const run = await until(store, await started(host, { configurable }), ended);
    expect(run.nodes["ask"]?.outputs).toMatchObject({ result: "as ever" });
  });

  test("that is a program ends with its run", async () => {
    const notes = join(mkdtempSync(join(tmpdir(), "program-")), "pid");
    const program = `require("node:fs").writeFileSync(${JSON.stringify(notes)}, String(process.pid)); setInterval(() => {}, 1e6)`;
    const binding = { type: "command", program: process.execPath, args: ["-e", program], killMs: 100 };
    const host = await hostWith({ bindings: { [AGENT]: { ...binding, tenants: ["*"] } } });
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
    const run = await leads(await hostWith({ bindings: { [AGENT]: { type: "scripted", script, tenants: ["*"] } } }));
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
    { typeId: "core.identity", agent: { agentId: "core.conformance.channel-agent", channel: "stable" } },
  ])("that nobody watches by the seams has nothing of theirs: %j", async (node) => {
    const asksTheirs = node.agent?.agentId.startsWith("core.conformance.") ?? false;
    const code = asksTheirs ? "validation_error" : "capability_required";
    await expect(refused(await hostWith({}), node)).rejects.toMatchObject({ code });
    await expect(refused(await hostWith({}, {}, { conformanceSeams: true }), node)).resolves.toBeDefined();
  });

  test("that is watched has an agent on the channel that a published workflow names", async () => {
    const host = await hostWith({}, {}, { conformanceSeams: true });
    const worker = workerOn(host);
    closing.push(() => worker.stop(0));
    const agent = { agentId: "core.conformance.channel-agent", channel: "stable" };
    const definition = workflow({ nodes: { resolve: { typeId: "core.identity", agent } } });
    const runId = await begin(host, { workflowId: await register(host, definition) });
    expect((await until(store, runId, ended)).status).toBe("completed");
    expect(payloads(await logOf(store, runId), "agent.invocation.started")).toMatchObject([
      { resolvedChannel: "stable", resolvedAgentVersion: "1.0.0" },
    ]);
  });
});
