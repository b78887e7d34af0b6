import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Binding } from "../../agents/binding.ts";
import { HTTP_DEFAULTS, httpBinding } from "../../agents/bindings/http.ts";
import { modelBinding } from "../../agents/bindings/model.ts";
import { readScript, scriptedBinding } from "../../agents/bindings/scripted.ts";
import { toolGateway } from "../../agents/gateway/tool-gateway.ts";
import { MODEL_DEFAULTS } from "../../agents/models/model-settings.ts";
import type { Worker } from "../../engine/worker/worker.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import type { EvalMode, Fixtures } from "../../protocol/evals/eval-suite.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, logOf, until, workerOn } from "../../testing/engine.ts";
import { agentOf, agentsOf, beginEval, echo, evalHost, goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { callingProgram } from "../../testing/gateway-agent.ts";
import { ModelServer } from "../../testing/model-server.ts";
import { ended } from "../../testing/workbench.ts";
import { evalReport } from "./eval-report.ts";
import { evalTaskBodies } from "./task-bodies.ts";

const LIVE: MemoryEntry = { id: "m9", content: "lives in Graz", tags: [], createdAt: "2026-01-01T00:00:00.000Z" };
const SEED: Fixtures = { memorySeed: [{ id: "m1", content: "writes from Austria" }] };
const LISTING = [{ tool: "memory:list", arguments: {} }];
const gateway = toolGateway();

/** Calls what its input says by the tools that it is posted, and answers with what they gave. */
function endpoint(fails: () => boolean) {
  return createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const { input, tools } = JSON.parse(text) as { input: object[]; tools: { url: string; token: string } };
    const answers: unknown[] = [];
    for (const call of input) {
      const headers = { authorization: `Bearer ${tools.token}` };
      const sent = await fetch(`${tools.url}/call`, { method: "POST", headers, body: JSON.stringify(call) });
      const { result, error } = (await sent.json()) as { result?: unknown; error?: { code: string } };
      answers.push(error?.code ?? result);
    }
    if (fails()) response.statusCode = 503;
    response.end(JSON.stringify({ output: answers }));
  });
}

/** Lists its memory, then answers with what the tool gave. */
const listing: Parameters<typeof ModelServer.start>[0] = ({ messages, body }) => {
  const answer = messages.find(({ role }) => role === "tool");
  if (answer !== undefined) return { type: "text", text: String(answer.content) };
  const [tool] = body["tools"] as { function: { name: string } }[];
  return { type: "tool", name: tool?.function.name ?? "", arguments: "{}" };
};

describe.each(BOTH_STORES)("an agent that is evaluated, on %s,", (_, open) => {
  let store: Store;
  let drop: () => Promise<void>;
  let model: ModelServer;
  let failures = 0;
  const server = endpoint(() => failures-- > 0);
  const workers: Worker[] = [];
  beforeAll(async () => {
    ({ store, drop } = await open());
    model = await ModelServer.start(listing);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    for (const worker of workers) await worker.stop(0);
    await Promise.all([gateway.close(), model.close(), new Promise((resolve) => server.close(resolve))]);
    await drop();
  });

  const script = { default: { toolCalls: [{ name: "memory:list" }], echo: "tool" } };
  const bindings: Readonly<Record<Binding["kind"], () => Binding>> = {
    command: () => callingProgram(gateway),
    http: () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const guard = { allowPrivate: true, resolve: async () => [{ address: "127.0.0.1", family: 4 as const }] };
      const world = { now: Date.now, chance: () => 0, wait: async () => undefined, scrubText: (text: string) => text };
      return httpBinding({ ...HTTP_DEFAULTS, url, headers: {} }, guard, world, gateway);
    },
    model: () =>
      modelBinding(
        {
          ...MODEL_DEFAULTS,
          provider: "openai-compatible",
          providerName: "local",
          baseUrl: model.url,
          model: "m",
          key: "none",
          format: "json",
          maxTurns: 4,
        },
        [],
      ),
    scripted: () => {
      const read = readScript(script);
      if (!read.ok) throw new Error("the script cannot be read");
      return scriptedBinding(read.script);
    },
  };

  let made = 0;
  async function evaluated(
    kind: Binding["kind"],
    mode: EvalMode,
    toolAllowlist: string[],
    input: unknown,
    fixtures: Fixtures,
  ) {
    const suiteId = `local.test.evals.kinds-${++made}`;
    const agents = agentsOf([agentOf({ toolAllowlist, memoryShape: { longTerm: true } })], echo, {
      bindingFor: bindings[kind],
      memoryFor: async () => [LIVE],
    });
    const suite = suiteOf([{ ...goldenTask("a", input, "?"), fixtures }], { suiteId, modes: [mode] });
    const prepared = await evalHost(store, suite, { agents });
    const worker = workerOn(prepared.host);
    workers.push(worker);
    const host = { ...prepared.host, localWorker: worker };
    const runId = await beginEval({ ...prepared, host }, { evalModes: [mode] }, { suite: suiteId });
    await until(store, runId, ended);
    const { trials } = await evalTaskBodies(host, ADA, runId, "a");
    const report = await evalReport(host, ADA, runId);
    return { runId, report, trial: trials[0] };
  }

  test.each([
    ["command", LISTING],
    ["http", LISTING],
    ["model", "What do you remember?"],
    ["scripted", "What do you remember?"],
  ] as const)("a %s one, lists its seed with fixtures and its live memory in live-shadow", async (kind, input) => {
    for (const [mode, id] of [
      ["golden", "m1"],
      ["live-shadow", "m9"],
    ] as const) {
      const { runId, report, trial } = await evaluated(kind, mode, ["memory:list"], input, SEED);
      const listed = [expect.objectContaining({ id })];
      expect(trial).toMatchObject({ mode, toolCalls: [{ tool: "memory:list", result: listed }] });
      // What it was given reached it, and is what it answered.
      expect(JSON.stringify(trial?.output)).toContain(id);
      expect(report.tasks[0]?.fixturesUnused).toEqual(mode === "golden" ? [] : undefined);
      const types = (await logOf(store, runId)).map(({ type }) => type);
      expect(types.filter((type) => type === "agent.toolCalled" || type === "memory.written")).toHaveLength(1);
    }
  });

  test("an http one that is asked again after an error, begins anew with its fixtures", async () => {
    failures = 2;
    const orders = ["first", "second", "third", "fourth"].map((response) => ({ tool: "shop:orders", response }));
    const call = { tool: "shop:orders" };
    const fixtures = { toolResponses: orders };
    const { trial } = await evaluated("http", "golden", ["shop:orders"], [call, call], fixtures);
    expect(trial).toMatchObject({ output: ["first", "second"], retries: 0 });
    expect(trial?.toolCalls).toHaveLength(6);
  });

  test("a call without a fixture is kept with the code that the agent was given", async () => {
    const call = { tool: "shop:lost" };
    const { trial } = await evaluated("command", "golden", ["shop:lost"], [call], {});
    expect(trial).toMatchObject({ output: ["fixture_missing"], toolCalls: [{ error: { code: "fixture_missing" } }] });
  });
});
