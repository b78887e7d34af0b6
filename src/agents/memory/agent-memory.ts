import type { Beside } from "../../engine/node-type.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { Owner } from "../../protocol/identity.ts";
import type { MemoryEntry } from "../../protocol/memory.ts";
import type { Run } from "../../protocol/run.ts";
import { matches, problemsOf, Type } from "../../protocol/schema.ts";
import type { AgentRef, WorkflowNode } from "../../protocol/workflow.ts";
import type { InstalledAgent } from "../installed-agent.ts";
import type { ToolDescriptor, ToolSurface } from "../tool-surface.ts";
import type { MemoryAdapter, MemoryChange, SeenBy } from "./memory-adapter.ts";
import type { MemoryScope } from "./memory-document.ts";

/** What an agent has of its memory while it works at one task. */
export interface BoundMemory {
  /** As it was when the run began. */
  readonly entries: readonly MemoryEntry[];
  /** Those of its allow-list. */
  readonly tools: ToolSurface;
}

export interface Binding {
  readonly run: Run;
  readonly node: WorkflowNode;
  readonly agent: InstalledAgent;
  readonly ref: AgentRef;
  /** Writes a change of the memory and the event that says so, or neither. */
  write(events: readonly EventDraft[], beside: Beside): Promise<void>;
}

/** Where nobody names a memory, an agent has one of its own. */
export function scopeFor({ tenant, workspace }: Owner, agentId: string, memoryRef = `agent:${agentId}`): MemoryScope {
  return { tenant, ...(workspace === undefined ? {} : { workspace }), memoryRef };
}

export function remembers({ memoryShape }: InstalledAgent): boolean {
  return memoryShape?.longTerm === true;
}

/** A run sees what there was when it began, whatever it or others have written since. */
export function seenBy({ runId, startedAt, forkedFrom }: Run): SeenBy {
  return { runId, asOfMs: Date.parse(forkedFrom?.at ?? startedAt) };
}

/** Undefined where the agent's manifest asks for no memory, or there is none. */
export async function bindMemory(
  adapter: MemoryAdapter | undefined,
  binding: Binding,
): Promise<BoundMemory | undefined> {
  const { run, agent, ref } = binding;
  if (adapter === undefined || !remembers(agent)) return undefined;
  const scope = scopeFor(run.owner, agent.agentId, ref.memoryRef);
  const entries = await adapter.list(scope, {}, seenBy(run));
  const tools = TOOLS.filter(({ name }) => agent.toolAllowlist.includes(name));
  const call: ToolSurface["call"] = async (name, args, signal) => {
    signal.throwIfAborted();
    const tool = TOOLS.find((one) => one.name === name);
    if (tool === undefined) return { status: "error", error: `There is no tool ${name}.` };
    if (!matches(tool.inputSchema, args)) {
      const [first] = problemsOf(tool.inputSchema, args);
      return { status: "error", error: `${first?.path ?? ""} ${first?.problem ?? "does not match"}`.trim() };
    }
    try {
      return { status: "ok", outcome: await act(adapter, binding, scope, tool.name, args as Args) };
    } catch (error) {
      signal.throwIfAborted();
      const problem = error instanceof AppError ? error.message : "The memory could not be changed; try again.";
      return { status: "error", error: problem };
    }
  };
  return { entries, tools: { tools: tools.map(descriptorOf), call } };
}

interface Args {
  readonly id?: string;
  readonly content?: string;
  readonly tags?: readonly string[];
  readonly expiresAt?: string;
  readonly tag?: string;
  readonly limit?: number;
}

async function act(
  adapter: MemoryAdapter,
  binding: Binding,
  scope: MemoryScope,
  name: (typeof TOOLS)[number]["name"],
  args: Args,
): Promise<unknown> {
  const { run } = binding;
  const { id = "", content = "", tag, limit, ...rest } = args;
  switch (name) {
    case "memory:list":
      return adapter.list(
        scope,
        { ...(tag === undefined ? {} : { tag }), ...(limit === undefined ? {} : { limit }) },
        seenBy(run),
      );
    case "memory:get":
      return adapter.get(scope, id, seenBy(run));
    case "memory:put": {
      const entry = { content, ...rest, ...(id === "" ? {} : { id }) };
      return written(binding, scope, () => adapter.put(scope, entry, run.runId));
    }
    case "memory:delete":
      return written(binding, scope, () => adapter.delete(scope, id));
  }
}

const ATTEMPTS = 3;

/** Somebody else may change the same entry in the same moment; then the change is decided anew. */
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

/** Names what was written; never what it says. */
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
      ...(agentId === undefined ? {} : { agentId }),
      ...(entry === undefined ? {} : { tags: entry.tags }),
    },
  };
}

const closed = { additionalProperties: false } as const;
const Id = Type.String({ minLength: 1, maxLength: 256 });
const Tag = Type.String({ minLength: 1, maxLength: 256 });

const TOOLS = [
  {
    name: "memory:list",
    description: "Lists what you remembered before this run began, newest first.",
    inputSchema: Type.Object(
      { tag: Type.Optional(Tag), limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })) },
      closed,
    ),
  },
  {
    name: "memory:get",
    description: "Gives one thing that you remembered before this run began.",
    inputSchema: Type.Object({ id: Id }, closed),
  },
  {
    name: "memory:put",
    description: "Remembers something for later runs. With an id, in place of what is there under it.",
    inputSchema: Type.Object(
      {
        id: Type.Optional(Id),
        content: Type.String({ minLength: 1 }),
        tags: Type.Optional(Type.Array(Tag, { maxItems: 50 })),
        expiresAt: Type.Optional(Type.String({ description: "ISO 8601", maxLength: 64 })),
      },
      closed,
    ),
  },
  {
    name: "memory:delete",
    description: "Forgets something from the next run on.",
    inputSchema: Type.Object({ id: Id }, closed),
  },
] as const;

function descriptorOf({ name, description, inputSchema }: (typeof TOOLS)[number]): ToolDescriptor {
  return {
    name,
    description,
    inputSchema: Object.fromEntries(Object.entries(inputSchema)),
    transport: "native",
  };
}
