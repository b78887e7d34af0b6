import { createHash } from "node:crypto";
import { LIVE_AGENT_ID, STRUCTURED_AGENT_ID } from "../../agents/conformance-agents.ts";
import { argsHash } from "../../agents/invocation-tools.ts";
import { AGENT_NODE_TYPE, RUN_API_NODE_TYPE } from "../../agents/nodes/agent-node.ts";
import type { MockPrograms } from "../../agents/nodes/mock-programs.ts";
import type { Host } from "../../engine/host.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { llmCacheKey } from "../../formats/agents/llm-cache-key.ts";
import type { AGENT_CONFORMANCE_OPERATIONS } from "../../protocol/conformance/agent-operations.ts";
import type { Discovery } from "../../protocol/discovery.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { CreateRunRequest } from "../../protocol/runs/api.ts";
import type { MockAnswer } from "../../protocol/runs/mock-provider.ts";
import { isTerminal, isWaiting } from "../../protocol/runs/run-status.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";
import { seamSurfaceRoute } from "./seam-surface.ts";
import { seamProviderUsageRoute } from "./seam-usage.ts";

type Payload = Readonly<Record<string, unknown>>;

/** What a conformance suite sees of agents: real runs of the caller, executed by the worker. */
export function agentSeamRoutes(
  discovery: () => Discovery,
  authorizer: Pick<Authorizer, "authorize">,
  mocks: MockPrograms | undefined,
): Readonly<Record<keyof typeof AGENT_CONFORMANCE_OPERATIONS, Handler>> {
  return {
    seamLiveInvoke: async (context) => {
      const { runId, log } = await invoked(context.host, callerOf(context), context.body as Invoking);
      const started = payloadOf(log, "agent.invocation.started");
      if (started === undefined) throw new AppError("unavailable", { reason: "The agent was not asked in time" });
      const { outcome } = payloadOf(log, "agent.invocation.completed") ?? {};
      return { status: 200, json: { runId, invocationId: started["invocationId"], ...(outcome ? { outcome } : {}) } };
    },
    seamToolHooks: async (context) => {
      const asked = context.body as Payload & { readonly agentId?: string };
      const tool = asked["toolName"] ?? asked["toolId"] ?? asked["tool"];
      if (tool === undefined) throw new AppError("validation_error", { problem: "body must name a toolName" });
      const invoking = {
        attemptTool: String(tool),
        args: asked["args"] ?? asked["arguments"] ?? {},
        ...(asked.agentId === undefined ? {} : { agentId: asked.agentId }),
      };
      const { runId, log } = await invoked(context.host, callerOf(context), invoking);
      const called = payloadOf(log, "agent.toolCalled");
      return { status: 200, json: { runId, called: called !== undefined, ...hooksOf(context.host, invoking, log) } };
    },
    seamMockAi: async (context) => {
      if (mocks === undefined) throw new AppError("capability_not_provided", { capability: "testing.mockProviders" });
      const { nodeId, program } = context.body as { nodeId: string; program: MockAnswer[] };
      mocks.program(callerOf(context).tenant, nodeId, program);
      return { status: 200, json: { nodeId, staged: program.length } };
    },
    seamProviderUsage: seamProviderUsageRoute,
    seamSurface: seamSurfaceRoute(discovery, authorizer),
    seamCacheKey: async ({ body }) => ({
      status: 200,
      json: { cacheKey: llmCacheKey(body as Readonly<Record<string, unknown>>) },
    }),
  };
}

/** What was staged goes; nothing else is kept. */
export function seamResetRoute(mocks: MockPrograms | undefined): Handler {
  return async (context) => {
    mocks?.clear(callerOf(context).tenant);
    return { status: 200, json: { reset: true } };
  };
}

interface Invoking {
  readonly agentId?: string;
  readonly source?: "workflow-node" | "run-api";
  readonly returnSchemaRef?: unknown;
  readonly forceInvalidResult?: boolean;
  readonly attemptTool?: string;
  readonly args?: unknown;
}

async function invoked(host: Host, caller: Caller, invoking: Invoking) {
  const { source = "workflow-node", returnSchemaRef, forceInvalidResult, attemptTool, args } = invoking;
  const shaped = returnSchemaRef !== undefined || forceInvalidResult === true;
  const agentId = invoking.agentId ?? (shaped ? STRUCTURED_AGENT_ID : LIVE_AGENT_ID);
  const task = { forceInvalidResult, attemptTool, args };
  const typeId = source === "workflow-node" ? AGENT_NODE_TYPE : RUN_API_NODE_TYPE;
  const name = createHash("sha256")
    .update(JSON.stringify([agentId, typeId]))
    .digest("hex")
    .slice(0, 16);
  const definition = workflowOf(`conformance-live-invoke-${name}`, typeId, agentId);
  return ran(host, caller, definition, { inputs: { task: JSON.parse(JSON.stringify(task)) } });
}

async function ran(
  host: Host,
  caller: Caller,
  definition: ReturnType<typeof workflowOf>,
  more: Pick<CreateRunRequest, "inputs" | "configurable">,
): Promise<{ readonly runId: string; readonly log: RunEventDoc[] }> {
  const text = JSON.stringify(definition);
  await registerWorkflow(host, { caller, definition, text, record: () => undefined });
  const request = { workflowId: definition.id, ...more };
  const { runId } = await createRun(host, { caller, request, dedup: false, record: () => undefined });
  await untilStill(host, caller, runId);
  const rows = await host.store.readEvents(runId, 0, 500);
  return { runId, log: rows.map(({ body }) => JSON.parse(body) as RunEventDoc) };
}

const LONGEST_WAIT_MS = 15_000;

/** Where no worker runs, the seam has nothing to look through. */
async function untilStill(host: Host, caller: Caller, runId: string): Promise<void> {
  const untilMs = host.nowMs() + LONGEST_WAIT_MS;
  for (;;) {
    const run = await host.store.readRun(caller, runId);
    if (run !== undefined && (isTerminal(run.status) || isWaiting(run.status))) return;
    if (run === undefined || host.nowMs() > untilMs) {
      throw new AppError("unavailable", { reason: "No worker executed the run in time" });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const CALLED = ["callId", "argsHash", "principal", "transport"] as const;
const RETURNED = ["callId", "status", "durationMs"] as const;

/** The hooks around a call, free of content: names, hashes and times. A call that was refused has no event of its own. */
function hooksOf({ scrubber }: Host, { attemptTool: toolName, args }: Invoking, log: readonly RunEventDoc[]) {
  const called = payloadOf(log, "agent.toolCalled") ?? { argsHash: argsHash(scrubber.scrubValue(args)) };
  const returned = payloadOf(log, "agent.toolReturned") ?? { status: "forbidden" };
  return {
    toolCalled: { toolName, ...pick(called, CALLED) },
    toolReturned: { toolName, ...pick(returned, RETURNED) },
  };
}

function pick(payload: Payload, names: readonly string[]): Payload {
  return Object.fromEntries(names.filter((name) => payload[name] !== undefined).map((name) => [name, payload[name]]));
}

function payloadOf(log: readonly RunEventDoc[], type: string): Payload | undefined {
  return log.find((event) => event.type === type)?.payload as Payload | undefined;
}

function workflowOf(id: string, typeId: string, agentId?: string) {
  const asking = agentId === undefined ? {} : { agent: { agentId } };
  const inputs = agentId === undefined ? {} : { task: { type: "variable", variableName: "task" } };
  return {
    id,
    name: "Conformance",
    version: "1",
    nodes: [{ id: "ask", typeId, name: "Ask", position: { x: 0, y: 0 }, config: {}, inputs, ...asking }],
    edges: [],
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [{ name: "task", type: "object" }],
    metadata: {},
    settings: {},
  };
}
