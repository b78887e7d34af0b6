import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Agents, InstalledAgent } from "../../agents/agents.ts";
import { putPolicy } from "../../agents/deployments/policies.ts";
import { toolGateway } from "../../agents/gateway/tool-gateway.ts";
import type { Worker } from "../../engine/worker/worker.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { AgentEvalSuite, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, logOf, until, workerOn } from "../../testing/engine.ts";
import {
  AGENT_ID,
  agentOf,
  agentsOf,
  beginEval,
  echo,
  evalHost,
  goldenTask,
  suiteOf,
} from "../../testing/eval-bench.ts";
import { callingProgram } from "../../testing/gateway-agent.ts";
import { ended } from "../../testing/workbench.ts";
import { evidenceReader } from "../evidence/evidence-reader.ts";
import { evalReport } from "./eval-report.ts";

const call = (tool: string, args: object = {}) => ({ tool, arguments: args });
const ORDERS = {
  toolResponses: [
    { tool: "shop:orders", response: { ageDays: 40 } },
    { tool: "shop:orders", response: { ageDays: 41 } },
    { tool: "shop:stock", response: 3 },
  ],
};
const SEED = { memorySeed: [{ id: "m1", content: "writes from Austria", tags: ["place"] }, { content: "likes tea" }] };
const seeded = (id: string, content: string, tags: string[] = []) =>
  expect.objectContaining({ id, content, tags, createdAt: expect.any(String) });

/** A task that calls this and passes with these answers. */
const calling = (taskId: string, input: unknown[], answers: unknown[], fixtures?: EvalTask["fixtures"]): EvalTask => ({
  taskId,
  input,
  expected: { kind: "golden", match: { strategy: "json-match", value: answers } },
  ...(fixtures === undefined ? {} : { fixtures }),
});

describe.each(BOTH_STORES)("a program that is evaluated, on %s,", (_, open) => {
  const gateway = toolGateway();
  let store: Store;
  let drop: () => Promise<void>;
  const workers: Worker[] = [];
  beforeAll(async () => {
    ({ store, drop } = await open());
  });
  afterAll(async () => {
    for (const worker of workers) await worker.stop(0);
    await gateway.close();
    await drop();
  });

  let made = 0;
  async function evaluated(
    tasks: readonly EvalTask[],
    agent: Partial<InstalledAgent> = {},
    more: Partial<Agents> = {},
    changes: Partial<AgentEvalSuite> = {},
    configurable: object = {},
  ) {
    const suiteId = `local.test.evals.tools-${++made}`;
    const installed = agentOf(agent);
    const agents = agentsOf([installed], echo, { bindingFor: () => callingProgram(gateway), ...more });
    const prepared = await evalHost(store, suiteOf(tasks, { suiteId, ...changes }), { agents });
    const worker = workerOn(prepared.host);
    workers.push(worker);
    const host = { ...prepared.host, localWorker: worker };
    const runId = await beginEval({ ...prepared, host }, { ...configurable }, { suite: suiteId });
    await until(store, runId, ended);
    const report = await evalReport(host, ADA, runId, { content: true });
    return { host, runId, report, suiteId, agent: installed };
  }
  const outputs = ({ tasks }: EvalReport) =>
    tasks.map(({ content = [] }) => content.map((trial) => (trial as { output?: unknown }).output));

  test("gets the answers of its fixtures in order, the last one again, and nothing that has none", async () => {
    const allowed = { toolAllowlist: ["shop:orders", "shop:stock", "shop:other"] };
    const input = ["list", ...Array.from({ length: 3 }, () => call("shop:orders")), call("shop:other"), call("a:b")];
    const { report, runId } = await evaluated([calling("a", input, [], ORDERS)], allowed);
    const found = { ageDays: 41 };
    expect(outputs(report)).toEqual([
      [[allowed.toolAllowlist, { ageDays: 40 }, found, found, "fixture_missing", "tool_not_allowed"]],
    ]);
    // As with a model: the log has each call and what it came to, and the agent answers for one outside its list.
    const log = await logOf(store, runId);
    const types = log.map(({ type }) => type);
    expect(types.filter((type) => type === "agent.toolCalled")).toHaveLength(4);
    expect(log.filter(({ type }) => type === "agent.toolReturned").map(({ payload }) => payload)).toMatchObject([
      { toolName: "shop:orders", status: "ok" },
      { toolName: "shop:orders", status: "ok" },
      { toolName: "shop:orders", status: "ok" },
      { toolName: "shop:other", status: "error" },
    ]);
    expect(types.lastIndexOf("agent.toolReturned")).toBeLessThan(types.indexOf("agent.invocation.completed"));
    expect(report.tasks[0]?.findings).toMatchObject([{ kind: "unsafe-tool-use", severity: "high" }]);
    expect(JSON.stringify(log)).not.toContain("ageDays");
  });

  test("begins anew with its fixtures in each trial, and is fully supported by them as evidence", async () => {
    const task = calling("a", [call("shop:orders")], [{ ageDays: 40 }], {
      toolResponses: ORDERS.toolResponses.slice(0, 2),
    });
    const allowed = { toolAllowlist: ["shop:orders"] };
    const all = [task, goldenTask("b", [])];
    const { report, host, runId, agent } = await evaluated(all, allowed, {}, {}, { trials: 2 });
    expect(outputs(report)[0]).toEqual([[{ ageDays: 40 }], [{ ageDays: 40 }]]);
    expect(report).toMatchObject({ passed: true, tasks: [{ fixturesUnused: [] }, {}] });
    expect(report.tasks[1]).not.toHaveProperty("fixturesUnused");
    const { conditions } = await evidenceReader(host).read({ visible: ADA, agent, evalRunId: runId });
    expect(conditions).toContainEqual(expect.objectContaining({ condition: "tools and memory", met: true }));
  });

  test("without a manifest may call the tools that the fixtures of its task name, and no other", async () => {
    const reading = ["memory:list", "memory:get"];
    const tasks = [
      calling("a", ["list", call("shop:stock"), call("shop:other")], [], ORDERS),
      calling("b", ["list", call("shop:stock")], []),
      calling("c", ["list", call("memory:list")], [], SEED),
    ];
    const { report } = await evaluated(tasks, { hasManifest: false });
    expect(outputs(report)).toEqual([
      [[["shop:orders", "shop:stock"], 3, "tool_not_allowed"]],
      [[[], "tool_not_allowed"]],
      [[reading, [seeded("m1", "writes from Austria", ["place"]), seeded("seed-2", "likes tea")]]],
    ]);
  });

  test("reads the seeded memory by the tools of its allow-list; what it writes is discarded", async () => {
    const allowed = { toolAllowlist: ["memory:list", "memory:get", "memory:put", "memory:delete"] };
    const input = [
      call("memory:list", { tag: "place" }),
      call("memory:get", { id: "seed-2" }),
      call("memory:get", { id: "m9" }),
      call("memory:put", { id: "m9", content: "new" }),
      call("memory:put", { content: "x".repeat(70_000) }),
      call("memory:put", { text: "x" }),
      call("memory:delete", { id: "m1" }),
      call("memory:delete", { id: "m8" }),
      call("memory:get", { id: "m9" }),
      call("memory:get", { id: "m1" }),
    ];
    const { report, runId } = await evaluated([calling("a", input, [], SEED)], allowed);
    const place = seeded("m1", "writes from Austria", ["place"]);
    expect(outputs(report)).toEqual([
      [
        [
          [place],
          seeded("seed-2", "likes tea"),
          null,
          { id: "m9" },
          "tool_error",
          "tool_error",
          { id: "m1" },
          null,
          null,
          place,
        ],
      ],
    ]);
    expect(report.tasks[0]?.fixturesUnused).toEqual([]);
    expect((await logOf(store, runId)).filter(({ type }) => type === "memory.written")).toEqual([]);
  });

  test("in mode live-shadow gets live tools and its live memory, and changes no memory", async () => {
    const entry = { id: "m1", content: "lives here", tags: [], createdAt: "2026-01-01T00:00:00.000Z" };
    const allowed = { toolAllowlist: ["shop:orders", "memory:list", "memory:put"], memoryShape: { longTerm: true } };
    const input = [call("shop:orders"), call("memory:list"), call("memory:put", { content: "x" }), call("memory:list")];
    const live: Partial<Agents> = {
      toolsFor: async () => ({
        tools: [{ name: "shop:orders" }],
        call: async () => ({ status: "ok", outcome: "live" }),
      }),
      memoryFor: async () => [entry],
    };
    const task = calling("a", input, [], { ...ORDERS, ...SEED });
    const { report } = await evaluated(
      [task],
      allowed,
      live,
      { modes: ["live-shadow"] },
      { evalModes: ["live-shadow"] },
    );
    expect(outputs(report)).toEqual([[["live", [entry], { id: expect.stringMatching(/^mem-/) }, [entry]]]]);
    expect(report.tasks[0]).not.toHaveProperty("fixturesUnused");
  });

  describe("whose fixtures were never asked for", () => {
    const tasks = [
      calling("used", [call("shop:orders"), call("shop:stock")], [{ ageDays: 40 }, 3], ORDERS),
      calling("half-used", [call("shop:stock")], [3], { ...ORDERS, ...SEED }),
      calling("unused", [], [], ORDERS),
    ];

    test("passes, and the report says which they are", async () => {
      const { report } = await evaluated(tasks, { hasManifest: false });
      expect(report).toMatchObject({
        passed: true,
        tasks: [
          { fixturesUnused: [] },
          { fixturesUnused: ["shop:orders", "memorySeed"] },
          { fixturesUnused: ["shop:orders", "shop:stock"] },
        ],
      });
    });

    test("is no evidence unless the policy allows it, and the condition says which tasks", async () => {
      const { host, runId, agent, suiteId } = await evaluated(tasks, { hasManifest: false });
      const reader = evidenceReader(host);
      const about = async (required: object) => {
        const read = await reader.read({ visible: ADA, agent, evalRunId: runId, required });
        return read.conditions.filter(({ condition, met }) => condition === "tools and memory" || !met);
      };
      const found = "fixtures of 2 tasks were never used: half-used, unused";
      const condition = { condition: "tools and memory", wanted: "those of the suite", found, met: false };
      expect(await about({})).toEqual([condition]);
      expect(await about({ allowUnusedFixtures: false })).toEqual([condition]);
      const suite = `${suiteId}@1.0.0`;
      const rules = { promote: { staged: { requiredEval: { suite, allowUnusedFixtures: true } } } };
      const policy = await putPolicy(host, reader, { caller: ADA, subject: AGENT_ID, rules });
      expect(await about(policy.rules.promote?.staged?.requiredEval ?? {})).toEqual([
        { ...condition, found: `${found}; allowed by allowUnusedFixtures`, met: true },
      ]);
    });

    test("is no evidence either where an earlier version did not record what was used", async () => {
      const { host, runId, agent } = await evaluated(tasks.slice(0, 1), { hasManifest: false });
      const [kept] = await store.listDocuments("t1", "eval-task", { limit: 10, prefix: `${runId}/` });
      if (kept === undefined) throw new Error("no result was kept");
      const { fixturesUnused: _, ...earlier } = JSON.parse(kept.body) as Record<string, unknown>;
      const document = { ...kept, revision: kept.revision + 1, body: JSON.stringify(earlier) };
      expect(await store.commit({ tenant: "t1", documents: [{ type: "put", document }] })).toMatchObject({ ok: true });
      const { conditions } = await evidenceReader(host).read({ visible: ADA, agent, evalRunId: runId });
      expect(conditions.filter(({ met }) => !met)).toMatchObject([
        { condition: "tools and memory", found: expect.stringContaining("was not recorded: used; evaluate it again") },
      ]);
    });
  });
});
