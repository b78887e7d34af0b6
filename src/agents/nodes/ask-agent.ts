import type { Host } from "../../engine/host.ts";
import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import type { RunError } from "../../protocol/events.ts";
import { DEFAULT_ESCALATION_THRESHOLD } from "../../protocol/runs/orchestrator.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunErrorCode } from "../../protocol/runs/run-errors.ts";
import { maskValues } from "../../protocol/runs/sensitive.ts";
import type { AgentRef } from "../../protocol/workflows/workflow.ts";
import type { InstalledAgent } from "../agents.ts";
import type { AgentFailureCode } from "../binding.ts";
import type { Invoked } from "../invocation.ts";
import { invoke } from "../invoke.ts";
import { bindMemory } from "../memory/agent-memory.ts";
import type { MemoryAdapter } from "../memory/memory-adapter.ts";
import type { Verbosity } from "../message-stream.ts";
import { wishesOf } from "../models/model-settings.ts";
import { type Resolving, settledAgent } from "../resolve-agent.ts";
import { joined } from "../tool-surface.ts";
import { closeLost, EventAppender } from "./event-appender.ts";

export type AgentHost = Pick<Host, "store" | "scrubber" | "nowMs" | "newId">;

export interface AgentDesk extends Resolving {
  /** Absent: agents remember nothing. */
  readonly memory?: MemoryAdapter;
}

export interface Question {
  readonly ref: AgentRef;
  readonly task: unknown;
  readonly source?: "workflow-node" | "run-api";
  /** Overrides the schema of the agent's manifest. */
  readonly returnSchema?: Readonly<Record<string, unknown>>;
}

export interface Asked {
  readonly agent: InstalledAgent;
  readonly invocationId: string;
  readonly invoked: Invoked;
  /** Confidence below this is escalated to a person. */
  readonly threshold: number;
}

/** Asks an agent once for a node, and logs its events as they happen. Failures are answers, unless the attempt is over. */
export async function askAgent(
  host: AgentHost,
  desk: AgentDesk,
  context: EffectContext,
  { ref, task, source = "workflow-node", returnSchema }: Question,
): Promise<Asked | { readonly error: RunError }> {
  const { run, node, signal } = context;
  const appender = new EventAppender(context);
  for (const event of await closeLost(host.store, context)) appender.append(event);
  const resolved = await settledAgent(desk, context, appender.write, ref);
  if ("refusal" in resolved) return after(appender, resolved.refusal);
  const agent = returnSchema === undefined ? resolved.agent : { ...resolved.agent, returnSchema };
  const { choice, asked: wished, bringsKey } = wishesOf(run);
  const binding = desk.agents.bindingFor(agent, choice, run.owner.tenant);
  if (binding === undefined) {
    const message = `This host does not know how to call ${agent.agentId} for tenant ${run.owner.tenant}; bind it in the agents file.`;
    return after(appender, { code: "agent_not_configured", message });
  }
  if (bringsKey && binding.kind === "model") return after(appender, NO_KEYS);
  const invocationId = host.newId("inv");
  const memory = await bindMemory(desk.memory, { run, node, agent, ref, write: appender.write });
  const tools = await toolsOf(desk, agent, signal, run.owner.tenant);
  if ("code" in tools) return after(appender, tools);
  const threshold = thresholdOf(run, agent);
  const invoked = await invoke(
    {
      agent,
      binding,
      input: task,
      runId: run.runId,
      nodeId: node.id,
      invocationId,
      source,
      ...defined({ channel: resolved.channel, sourceManifestId: ref.sourceManifestId }),
      tools: joined([tools, ...(memory === undefined ? [] : [memory.tools])]),
      memory: memory?.entries ?? [],
      memoryBound: memory !== undefined,
      content: true,
      verbosity: verbosityOf(run),
      wished,
      threshold,
      ...defined({ principal: run.owner.principal }),
      scrubber: scrubberOf(host.scrubber, run),
      newId: host.newId,
      nowMs: host.nowMs,
      flushed: appender.flushed,
      signal,
    },
    appender.append,
    // An invocation is completed when its answer is kept: a crash in between would ask again after it was.
    (event) => context.atEnd([event]),
  );
  await appender.flushed();
  return { agent, invocationId, invoked, threshold };
}

/** Refuse a run that brings its own model key: its cost would be charged to the host's key. */
export const NO_KEYS: RunError = {
  code: "agent_not_configured",
  message: "The run asks for a key of its own by configurable.ai.credentialRef, and this host keeps no such keys.",
};

async function after(appender: EventAppender, error: RunError): Promise<{ readonly error: RunError }> {
  await appender.flushed();
  return { error };
}

async function toolsOf({ agents }: AgentDesk, agent: InstalledAgent, signal: AbortSignal, tenant: string) {
  try {
    return await agents.toolsFor(agent, signal, tenant);
  } catch (error) {
    signal.throwIfAborted();
    const message = `The tools of ${agent.agentId} cannot be reached: ${(error as Error).message}`;
    return { code: "agent_unreachable", message, retryable: true };
  }
}

function verbosityOf({ configurable }: Run): Verbosity {
  const wanted = configurable?.["reasoningVerbosity"];
  return wanted === "off" || wanted === "summary" ? wanted : "full";
}

export function thresholdOf({ configurable }: Pick<Run, "configurable">, agent?: InstalledAgent): number {
  const wanted = configurable?.["escalationThreshold"];
  return typeof wanted === "number" ? wanted : (agent?.confidenceThreshold ?? DEFAULT_ESCALATION_THRESHOLD);
}

/** Streamed pieces are scrubbed of the run's own secrets here; the engine scrubs only whole values. */
export function scrubberOf(scrubber: Scrubber, { secrets = [] }: Pick<Run, "secrets">): Scrubber {
  return {
    scrubText: (text) => maskValues(scrubber.scrubText(text), secrets),
    scrubValue: (value) => scrubber.scrubValue(value),
    ...defined({ scrubLong: scrubber.scrubLong }),
    holdsKey: (text) => scrubber.holdsKey(text),
  };
}

/** Why an invocation brought no answer. An agent that declines may quote its input, so its text is left out. */
export function failureOf(invoked: Invoked, agentId: string, scrubber: Scrubber): RunError | undefined {
  const { outcome, failure, schemaValid } = invoked;
  if (outcome === "refused") return { code: "agent_refused", message: `Agent ${agentId} declined.`, retryable: false };
  if (outcome !== "failed") return undefined;
  const { code = "agent_error", message = "The agent failed.", retryable = false } = failure ?? {};
  return {
    code: schemaValid === false ? RETURN_VIOLATION : named(code),
    message: scrubber.scrubText(message),
    retryable,
  };
}

/** Answers that do not fit the return schema of a manifest have codes of the protocol. */
export const RETURN_VIOLATION: RunErrorCode = "handoff_return_schema_violation";

function named(code: AgentFailureCode): RunErrorCode {
  return code === "agent_task_invalid" ? "handoff_task_schema_violation" : code;
}
