import { expect } from "vitest";
import { NODE_TYPES } from "../engine/nodes/all.ts";
import type { EffectNodeType, NodeType } from "../engine/worker/node-type.ts";
import type { RunEventDoc } from "../protocol/events.ts";
import type { ForkRunResponse } from "../protocol/runs/fork-api.ts";
import type { Run } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import { Type } from "../protocol/schema.ts";
import type { Store } from "../store/port/store.ts";
import { GateClient } from "./gate-host.ts";
import { type TestHost, testHost, type Who } from "./host.ts";
import { workflow } from "./workflow.ts";

/** An effect node that counts how often it was called, and comes to another number each time. */
export function countedEffect(typeId: string): EffectNodeType & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    kind: "effect",
    typeId,
    summary: "Counts.",
    config: Type.Object({}, { additionalProperties: true }),
    calls,
    async execute({ run, node, attempt }) {
      calls.push(run.runId);
      if (node.config["flaky"] === true && attempt === 0) {
        return { type: "failed", error: { code: "busy", message: "not yet", retryable: true } };
      }
      const number = calls.length;
      return {
        type: "completed",
        outputs: { number },
        variables: { number },
        channels: [{ channel: "log", value: number }],
      };
    },
  };
}

/** A host that executes runs, with a workflow that does a bit of everything that comes from outside. */
export class ForkHost {
  readonly host: TestHost;
  readonly gates: GateClient;
  readonly effect: ReturnType<typeof countedEffect>;

  private constructor(host: TestHost, effect: ReturnType<typeof countedEffect>) {
    this.host = host;
    this.effect = effect;
    this.gates = new GateClient(host);
  }

  static async start(store: Store, more: readonly NodeType[] = []): Promise<ForkHost> {
    const effect = countedEffect("test.counted");
    const types = [effect, ...more].map((type) => [type.typeId, type] as const);
    const host = await testHost({ store, worker: true, host: { nodeTypes: new Map([...NODE_TYPES, ...types]) } });
    const forks = new ForkHost(host, effect);
    for (const definition of DEFINITIONS) await forks.gates.registerWorkflow(definition);
    return forks;
  }

  /** A run of `everything` that has come to its end, with its gate accepted. */
  async everything(): Promise<string> {
    const runId = await this.gates.waiting("everything", "owner", { inputs: { name: "Ada" }, metadata: { who: "me" } });
    await this.gates.answer(runId, { action: "accept", feedback: "fine" });
    await this.ended(runId);
    return runId;
  }

  ended(runId: string): Promise<Run> {
    return this.gates.until(runId, ({ status }) => isTerminal(status));
  }

  ask(runId: string, json: unknown, as: Who = "owner", headers: Record<string, string> = {}) {
    return this.host.ask("POST", `/v1/runs/${runId}:fork`, { as, json, headers });
  }

  async fork(runId: string, json: unknown, as: Who = "owner"): Promise<ForkRunResponse> {
    const answer = await this.ask(runId, json, as);
    expect(answer.statusCode, answer.payload).toBe(201);
    return answer.json();
  }

  async log(runId: string): Promise<RunEventDoc[]> {
    const rows = await this.host.store.readEvents(runId, 0, 10_000);
    return rows.map(({ body }) => JSON.parse(body) as RunEventDoc);
  }
}

const DEFINITIONS = [
  workflow({
    id: "everything",
    nodes: {
      greet: { typeId: "core.identity", inputs: { copy: { type: "variable", variableName: "name" } } },
      nap: { typeId: "core.delay", config: { ms: 5 } },
      count: { typeId: "test.counted", config: { flaky: true }, settings: { maxRetries: 1, retryDelayMs: 1 } },
      write: { typeId: "core.channelWrite", config: { channelName: "log", value: "written" } },
      child: { typeId: "core.subWorkflow", config: { workflowId: "small", outputMapping: { fromChild: "result" } } },
      gate: { typeId: "core.approvalGate", config: { title: "Ship it?" } },
      last: "core.noop",
    },
    edges: ["greet>nap", "greet>count", "nap>write", "count>write", "write>child", "child>gate", "gate>last"],
    variables: [{ name: "name", type: "string", defaultValue: "nobody" }],
    channels: { log: { reducer: "append", ttlMs: 3_600_000 } },
  }),
  workflow({
    id: "small",
    nodes: { only: { typeId: "core.identity", inputs: { result: { type: "static", value: 42 } } } },
  }),
  workflow({ id: "gated", nodes: { gate: "core.approvalGate", after: "core.noop" }, edges: ["gate>after"] }),
  workflow({
    id: "gate-then-count",
    nodes: { gate: "core.approvalGate", count: "test.counted" },
    edges: ["gate>count"],
    configurableSchema: { type: "object", properties: { colour: { enum: ["red", "blue"] }, recursionLimit: {} } },
    variables: [
      { name: "name", type: "string", defaultValue: "nobody" },
      { name: "password", type: "string", sensitive: true, defaultValue: "first-secret" },
    ],
  }),
  workflow({
    id: "slow-then-count",
    nodes: { nap: { typeId: "core.delay", config: { ms: 600_000 } }, count: "test.counted" },
    edges: ["nap>count"],
  }),
  workflow({ id: "sleeps", nodes: { nap: { typeId: "core.delay", config: { ms: 600_000 } } } }),
];
