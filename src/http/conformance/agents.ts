import { createHash } from "node:crypto";
import { LIVE_AGENT_ID, STRUCTURED_AGENT_ID } from "../../agents/conformance-agents.ts";
import { argsHash } from "../../agents/invocation-tools.ts";
import { AGENT_NODE_TYPE, RUN_API_NODE_TYPE } from "../../agents/nodes/agent-node.ts";
import type { MockPrograms } from "../../agents/nodes/mock-programs.ts";
import type { Host } from "../../engine/host.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { deleteWebhook, listWebhooks, registerWebhook } from "../../engine/webhooks/manage-webhooks.ts";
import { llmCacheKey } from "../../formats/agents/llm-cache-key.ts";
import type { Discovery } from "../../protocol/discovery.ts";
import { advertises } from "../../protocol/discovery.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { RunEventDoc } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { OPERATIONS } from "../../protocol/operations.ts";
import { isWaiting } from "../../protocol/runs/run-status.ts";
import { parse, Type } from "../../protocol/schema.ts";
import { RegisterWebhookRequest } from "../../protocol/webhooks/api.ts";
import type { HandlerOf, HandlersOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";
import { definitionOf, startMade, untilRun } from "./made-run.ts";

type Operations = typeof OPERATIONS;
type Payload = Readonly<Record<string, unknown>>;

/** Conformance routes about agents: real runs of the caller, executed by the worker. */
export function agentConformanceRoutes(
  discovery: () => Discovery,
  authorizer: Pick<Authorizer, "authorize">,
  mocks: MockPrograms | undefined,
): HandlersOf<
  Pick<
    Operations,
    | "conformanceLiveInvoke"
    | "conformanceToolHooks"
    | "conformanceMockAi"
    | "conformanceReset"
    | "conformanceSurface"
    | "conformanceCacheKey"
  >
> {
  return {
    conformanceLiveInvoke: async ({ host, caller, body }) => {
      const { runId, log } = await invoke(host, caller, body);
      const started = payloadOf(log, "agent.invocation.started");
      if (started === undefined) throw new AppError("unavailable", { reason: "The agent was not asked in time" });
      const { outcome } = payloadOf(log, "agent.invocation.completed") ?? {};
      return ok({ runId, invocationId: started["invocationId"], ...(outcome ? { outcome } : {}) });
    },
    conformanceToolHooks: async ({ host, caller, body }) => {
      const { agentId, toolName, toolId, tool } = body;
      const attemptTool = toolName ?? toolId ?? tool;
      if (attemptTool === undefined) throw validationError("body must name a toolName");
      const args = body.args ?? body.arguments ?? {};
      const invocation = { attemptTool, args, ...(agentId === undefined ? {} : { agentId }) };
      const { runId, log } = await invoke(host, caller, invocation);
      const called = payloadOf(log, "agent.toolCalled");
      return ok({ runId, called: called !== undefined, ...hooksOf(host, invocation, log) });
    },
    conformanceMockAi: async ({ caller, body: { nodeId, program } }) => {
      if (mocks === undefined) throw new AppError("capability_not_provided", { capability: "testing.mockProviders" });
      mocks.program(caller.tenant, nodeId, program);
      return ok({ nodeId, staged: program.length });
    },
    // Staged answers are the only state of these routes.
    conformanceReset: async ({ caller }) => {
      mocks?.clear(caller.tenant);
      return ok({ reset: true });
    },
    conformanceSurface: surfaceRoute(discovery, authorizer),
    conformanceCacheKey: async ({ body }) => ok({ cacheKey: llmCacheKey(body) }),
  };
}

interface Invocation {
  readonly agentId?: string;
  readonly source?: "workflow-node" | "run-api";
  readonly returnSchemaRef?: unknown;
  readonly forceInvalidResult?: boolean;
  readonly attemptTool?: string;
  readonly args?: unknown;
}

const WAITING = { limitMs: 15_000, reason: "No worker executed the run in time" };

async function invoke(
  host: Host,
  caller: Caller,
  invocation: Invocation,
): Promise<{ readonly runId: string; readonly log: RunEventDoc[] }> {
  const { source = "workflow-node", returnSchemaRef, forceInvalidResult, attemptTool, args } = invocation;
  const isStructured = returnSchemaRef !== undefined || forceInvalidResult === true;
  const agentId = invocation.agentId ?? (isStructured ? STRUCTURED_AGENT_ID : LIVE_AGENT_ID);
  const task = JSON.parse(JSON.stringify({ forceInvalidResult, attemptTool, args }));
  const typeId = source === "workflow-node" ? AGENT_NODE_TYPE : RUN_API_NODE_TYPE;
  const runId = await startMade(host, caller, invocationWorkflow(typeId, agentId), { inputs: { task } });
  await untilRun(host, caller, runId, ({ status }) => isWaiting(status), WAITING);
  const rows = await host.store.readEvents(runId, 0, 500);
  return { runId, log: rows.map(({ body }) => JSON.parse(body) as RunEventDoc) };
}

const CALLED = ["callId", "argsHash", "principal", "transport"] as const;
const RETURNED = ["callId", "status", "durationMs"] as const;

/** The hooks around a call, free of content: names, hashes and times. A call that was refused has no event of its own. */
function hooksOf({ scrubber }: Host, { attemptTool: toolName, args }: Invocation, log: readonly RunEventDoc[]) {
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

function invocationWorkflow(typeId: string, agentId: string) {
  const hash = createHash("sha256")
    .update(JSON.stringify([agentId, typeId]))
    .digest("hex");
  const inputs = { task: { type: "variable" as const, variableName: "task" } };
  const position = { x: 0, y: 0 };
  return definitionOf({
    id: `conformance-live-invoke-${hash.slice(0, 16)}`,
    name: "Conformance",
    nodes: [{ id: "ask", typeId, name: "Ask", position, config: {}, inputs, agent: { agentId } }],
    variables: [{ name: "task", type: "object" }],
  });
}

type Act = (host: Host, caller: Caller, given: Payload) => Promise<object>;

const WebhookName = Type.Object({ webhookId: Type.String({ minLength: 1, maxLength: 256 }) });

/** The operations on webhooks, by the functions of the real routes. */
const WEBHOOK_OPS: Readonly<Record<string, Act>> = {
  register: (host, caller, given) => registerWebhook(host, caller, parse(RegisterWebhookRequest, given, "body")),
  list: (host, caller) => listWebhooks(host, caller),
  unregister: async (host, caller, given) => {
    const { webhookId } = parse(WebhookName, given, "body");
    await deleteWebhook(host, { caller, webhookId, record: () => undefined });
    return { webhookId, unregistered: true };
  },
};

/** Whether discovery advertises a surface; with `op`, an operation on it, as far as the caller may. */
function surfaceRoute(
  discovery: () => Discovery,
  authorizer: Pick<Authorizer, "authorize">,
): HandlerOf<Operations["conformanceSurface"]> {
  return async ({ host, caller, body }) => {
    const { surface, op, args, ...rest } = body as typeof body & { readonly args?: unknown };
    if (!advertises(discovery(), surface))
      throw new AppError("not_found", { what: `surface ${JSON.stringify(surface)}` });
    if (op === undefined) return ok({ surface, supported: true });
    const ops = /^(host\.)?webhooks$/.test(surface) ? WEBHOOK_OPS : {};
    const act = Object.hasOwn(ops, op) ? ops[op] : undefined;
    if (act === undefined) {
      const known = Object.keys(ops).join(", ") || "none";
      throw validationError(`body/op is not served for this surface; it has: ${known}`);
    }
    await authorizer.authorize(caller, "webhooks:manage");
    const given = typeof args === "object" && args !== null ? (args as Payload) : rest;
    return ok({ surface, op, ...(await act(host, caller, given)) });
  };
}
