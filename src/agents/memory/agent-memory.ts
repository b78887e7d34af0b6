import type { SideWrites } from "../../engine/worker/node-type.ts";
import type { MemoryEntry } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { Owner } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AgentRef, WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { InstalledAgent } from "../agents.ts";
import type { ToolSurface } from "../tool-surface.ts";
import type { MemoryAdapter, MemoryChange, SeenBy } from "./memory-adapter.ts";
import type { MemoryScope } from "./memory-document.ts";
import { type MemoryActions, memoryTools } from "./memory-tools.ts";

/** An agent's memory during one task. */
export interface BoundMemory {
  /** Entries at the start of the run. */
  readonly entries: readonly MemoryEntry[];
  /** The memory tools of its allow-list. */
  readonly tools: ToolSurface;
}

export interface Binding {
  readonly run: Run;
  readonly node: WorkflowNode;
  readonly agent: InstalledAgent;
  readonly ref: AgentRef;
  /** Writes a change of the memory together with its event, or neither. */
  write(events: readonly EventDraft[], sideWrites: SideWrites): Promise<void>;
}

/** An agent has a memory of its own where no memory is named. */
export function scopeFor({ tenant, workspace }: Owner, agentId: string, memoryRef = `agent:${agentId}`): MemoryScope {
  return { tenant, ...defined({ workspace }), memoryRef };
}

export function remembers({ memoryShape }: InstalledAgent): boolean {
  return memoryShape?.longTerm === true;
}

/** A run sees what there was when it began, whatever it or others have written since. */
export function seenBy({ runId, startedAt, forkedFrom }: Run): SeenBy {
  return { runId, asOfMs: Date.parse(forkedFrom?.at ?? startedAt) };
}

/** Undefined where the agent's manifest asks for no memory, or the host has none. */
export async function bindMemory(
  adapter: MemoryAdapter | undefined,
  binding: Binding,
): Promise<BoundMemory | undefined> {
  const { run, agent, ref } = binding;
  if (adapter === undefined || !remembers(agent)) return undefined;
  const scope = scopeFor(run.owner, agent.agentId, ref.memoryRef);
  const seen = seenBy(run);
  const actions: MemoryActions = {
    list: (options) => adapter.list(scope, options, seen),
    get: (id) => adapter.get(scope, id, seen),
    put: (entry) => written(binding, scope, () => adapter.put(scope, entry, run.runId)),
    delete: (id) => written(binding, scope, () => adapter.delete(scope, id)),
  };
  return {
    entries: givenWithTask(await adapter.list(scope, {}, seen)),
    tools: memoryTools(agent.toolAllowlist, actions),
  };
}

/** Characters of what is given with a task: of many agents that begin together each holds as much. */
const GIVEN_CHARACTERS = 1_000_000;

/** The newest of the entries, as many as are given with a task; an agent reads the others with its tools. */
export function givenWithTask(newestFirst: readonly MemoryEntry[]): readonly MemoryEntry[] {
  let left = GIVEN_CHARACTERS;
  const end = newestFirst.findIndex(({ content }) => {
    left -= content.length;
    return left < 0;
  });
  return end === -1 ? newestFirst : newestFirst.slice(0, end);
}

const ATTEMPTS = 3;

/** A concurrent change of the same entry makes this one be decided anew. */
async function written(
  { node, agent, write }: Binding,
  scope: MemoryScope,
  decide: () => Promise<MemoryChange | undefined>,
): Promise<{ readonly id: string } | null> {
  for (let attempt = 1; ; attempt++) {
    const change = await decide();
    if (change === undefined) return null;
    try {
      await write([writtenEvent(node.id, agent.agentId, scope, change)], { documents: [change.write] });
      return { id: change.memoryId };
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Names the written entry, never its content. */
export function writtenEvent(
  nodeId: string,
  agentId: string | undefined,
  { memoryRef }: MemoryScope,
  { memoryId, entry }: MemoryChange,
): EventDraft {
  return {
    type: "memory.written",
    nodeId,
    payload: {
      memoryRef,
      memoryId,
      nodeId,
      ...defined({ agentId }),
      ...(entry === undefined ? {} : { tags: entry.tags }),
    },
  };
}
