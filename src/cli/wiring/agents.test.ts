import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { auditSigner } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { createEvalRun } from "../../evals/run/create-eval-run.ts";
import { EVAL_NODE_TYPE, evalWorkflow } from "../../evals/run/eval-plan.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA, begin, register, until, workerOn } from "../../testing/engine.ts";
import { mcpProgram } from "../../testing/mcp-program.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { workflow } from "../../testing/workflow.ts";
import { defaultConfig } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { agentServices, evalSettings } from "./agents.ts";
import { buildHost } from "./build-host.ts";
import { httpSettings } from "./http-settings.ts";
import { checkPackFolders, installEverywhere, packDesk, packTrust } from "./pack-folders.ts";

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
  const examples = fileURLToPath(new URL("../../../examples/agents/", import.meta.url));

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
