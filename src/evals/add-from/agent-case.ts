import { scopeFor, seenBy } from "../../agents/memory/agent-memory.ts";
import type { MemoryAdapter } from "../../agents/memory/memory-adapter.ts";
import { taskOf } from "../../agents/nodes/agent-node.ts";
import type { Host } from "../../engine/host.ts";
import { readLog } from "../../engine/runs/read-log.ts";
import { resolveInputs } from "../../engine/workflows/decide/resolve-inputs.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { RunEvent } from "../../protocol/events.ts";
import { fold, type Run } from "../../protocol/runs/run.ts";
import { maskValues } from "../../protocol/runs/sensitive.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { Correction } from "./find-correction.ts";
import type { RecordedCase } from "./recorded-case.ts";

type Memory = Pick<MemoryAdapter, "list">;

/** The corrected agent call of a run. Throws `validation_error` where the call is ambiguous. */
export async function agentCase(
  host: Host,
  memory: Memory | undefined,
  run: Run,
  { target }: Correction,
): Promise<RecordedCase> {
  const events = await readLog(host.store, run.runId, run.version);
  const invocation = meant(events, invocationsIn(events), target);
  const plan = await host.plans.byHash(run.workflowHash);
  const node = plan.graph.node.get(invocation.nodeId);
  const before = fold(events.slice(0, invocation.attemptSequence + 1));
  if (node === undefined || before === undefined) throw validationError(`the run has no node ${invocation.nodeId}`);
  // Inputs of a node are not in the log: they are resolved again from the events before it.
  const resolved = resolveInputs(plan, before, node);
  if ("error" in resolved)
    throw validationError(`the input of the agent call is no longer known: ${resolved.error.message}`);
  const { secrets = [] } = run;
  // Secrets of the workflow are known to the run only; texts that look like a secret are removed from the whole task later.
  const clean = <T>(value: T): T => maskValues(value, secrets);
  const { returned, answer, agentId, agentVersion, nodeId } = invocation;
  const remembered = await memoryOf(memory, run, node, invocation);
  return {
    name: run.runId,
    agentId,
    ...defined({ agentVersion }),
    nodeId,
    input: clean(taskOf(resolved.inputs)),
    outputs: answer === undefined ? [] : [clean(answer.value)],
    toolResponses: returned
      .filter(({ ok }) => ok)
      .map(({ tool, outcome }) => ({ tool, response: clean(outcome ?? null) })),
    memorySeed: remembered.entries.map(({ id, content, tags }) => clean({ id, content, tags: [...tags] })),
    notes: [...failedTools(invocation), ...remembered.notes],
  };
}

function meant(
  events: readonly RunEvent[],
  all: readonly RecordedInvocation[],
  { eventId, nodeId }: Correction["target"],
): RecordedInvocation {
  const ended = all.filter((one) => one.ended);
  if (ended.length === 0)
    throw validationError("no agent was asked in this run, so that there is nothing to evaluate one with");
  if (eventId !== undefined) {
    const event = events.find((one) => one.eventId === eventId);
    const sequence = event?.sequence ?? -1;
    const atNode = ended.filter((one) => event?.nodeId === undefined || one.nodeId === event.nodeId);
    const around = atNode.find(({ from, to }) => from <= sequence && sequence <= to);
    const chosen = around ?? atNode.findLast(({ to }) => to < sequence);
    if (chosen !== undefined) return chosen;
    throw validationError(
      "the correction is about an event that belongs to no answer of an agent; correct the node or the run",
    );
  }
  const candidates = nodeId === undefined ? ended : ended.filter((one) => one.nodeId === nodeId);
  const last = candidates.at(-1);
  if (last === undefined) throw validationError(`the correction is about node ${nodeId}, which asked no agent`);
  const nodes = [...new Set(candidates.map((one) => one.nodeId))];
  if (nodes.length === 1) return last;
  throw validationError(
    `agents were asked at ${nodes.join(", ")}; correct the node that is meant: assay annotate RUN --node ID`,
  );
}

function failedTools({ returned }: RecordedInvocation): string[] {
  const failed = [...new Set(returned.filter(({ ok }) => !ok).map(({ tool }) => tool))];
  if (failed.length === 0) return [];
  return [`A call of ${failed.join(", ")} failed in the run; fixtures only hold answers, so that it is left out.`];
}

/** The agent's memory at the start of the run; else the entries that it looked up. */
async function memoryOf(
  memory: Memory | undefined,
  run: Run,
  node: WorkflowNode,
  { agentId, memoryBound, returned }: RecordedInvocation,
): Promise<{ readonly entries: readonly MemoryEntry[]; readonly notes: readonly string[] }> {
  if (!memoryBound) return { entries: [], notes: [] };
  if (memory !== undefined) {
    const scope = scopeFor(run.owner, agentId, node.agent?.memoryRef);
    return { entries: await memory.list(scope, { limit: 0 }, seenBy(run)), notes: [] };
  }
  const looked = returned.filter(({ tool, ok }) => ok && (tool === "memory:list" || tool === "memory:get"));
  const entries = new Map(
    looked.flatMap(({ outcome }) =>
      [outcome]
        .flat()
        .filter(isEntry)
        .map((one) => [one.id, one]),
    ),
  );
  return {
    entries: [...entries.values()],
    notes: ["Of what the agent remembered only what it looked up is in the task."],
  };
}

function isEntry(value: unknown): value is MemoryEntry {
  if (typeof value !== "object" || value === null) return false;
  const { id, content, tags } = value as Partial<MemoryEntry>;
  return typeof id === "string" && typeof content === "string" && Array.isArray(tags);
}

export interface RecordedInvocation {
  readonly invocationId: string;
  readonly agentId: string;
  readonly agentVersion?: string;
  readonly nodeId: string;
  /** The sequence of the start of its node's attempt. */
  readonly attemptSequence: number;
  readonly from: number;
  /** The sequence of the last event of the call. */
  readonly to: number;
  readonly memoryBound: boolean;
  readonly ended: boolean;
  /** Absent where it came to none: it failed, or declined. */
  readonly answer?: { readonly value: unknown };
  readonly returned: readonly ReturnedTool[];
}

export interface ReturnedTool {
  readonly tool: string;
  readonly ok: boolean;
  readonly outcome: unknown;
}

type Open = { -readonly [K in keyof RecordedInvocation]: RecordedInvocation[K] } & { returned: ReturnedTool[] };

/**
 * Invocations in the order of their starts. A node asks one agent at a time, so an event of a node belongs to its open invocation.
 */
function invocationsIn(events: readonly RunEvent[]): RecordedInvocation[] {
  const all: Open[] = [];
  const open = new Map<string, Open>();
  const attempts = new Map<string, number>();
  for (const { type, nodeId = "", sequence, payload } of events as readonly LoggedEvent[]) {
    if (type === "node.started") attempts.set(nodeId, sequence);
    if (type === "agent.invocation.started") {
      const begun = begin(nodeId, sequence, attempts.get(nodeId) ?? 0, payload);
      all.push(begun);
      open.set(nodeId, begun);
      continue;
    }
    const current = open.get(nodeId);
    if (current === undefined) continue;
    current.to = sequence;
    if (type === "agent.toolReturned") {
      const { toolName = "", status, outcome = null } = payload;
      current.returned.push({ tool: toolName, ok: (status ?? "ok") === "ok", outcome });
    }
    if (type === "agent.decided") current.answer = { value: payload.decision ?? null };
    if (type !== "agent.invocation.completed") continue;
    current.ended = true;
    open.delete(nodeId);
  }
  return all;
}

interface LoggedEvent {
  readonly type: string;
  readonly nodeId?: string;
  readonly sequence: number;
  readonly payload: Readonly<{
    invocationId?: string;
    agentId?: string;
    resolvedAgentVersion?: string;
    memoryBound?: boolean;
    toolName?: string;
    status?: string;
    outcome?: unknown;
    decision?: unknown;
  }>;
}

function begin(nodeId: string, sequence: number, attemptSequence: number, payload: LoggedEvent["payload"]): Open {
  const { invocationId = "", agentId = "", resolvedAgentVersion, memoryBound = false } = payload;
  return {
    invocationId,
    agentId,
    ...defined({ agentVersion: resolvedAgentVersion }),
    nodeId,
    attemptSequence,
    from: sequence,
    to: sequence,
    memoryBound,
    ended: false,
    returned: [],
  };
}
