import type { MemoryEntry } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { closed, firstProblem, matches, Type } from "../../protocol/schema.ts";
import type { ToolDescriptor, ToolResult, ToolSurface } from "../tool-surface.ts";
import { checkEntry, type ListOptions, type NewEntry, selected } from "./memory-adapter.ts";

/** The actions of the memory tools for one invocation. */
export interface MemoryActions {
  list(options: ListOptions): Promise<readonly MemoryEntry[]>;
  get(id: string): Promise<MemoryEntry | null>;
  /** Throws `validation_error` for what cannot be kept. */
  put(entry: NewEntry): Promise<{ readonly id: string } | null>;
  /** Null where there is nothing to delete. */
  delete(id: string): Promise<{ readonly id: string } | null>;
}

/** Tools that read the content of a memory. */
export const READING_MEMORY: readonly string[] = ["memory:list", "memory:get"];

/** The memory tools of an allow-list. */
export function memoryTools(toolAllowlist: readonly string[], actions: MemoryActions): ToolSurface {
  const tools = TOOLS.filter(({ name }) => toolAllowlist.includes(name));
  return {
    tools: tools.map(descriptorOf),
    async call(name, args, signal) {
      signal.throwIfAborted();
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) return { status: "error", error: `There is no tool ${name}.` };
      if (!matches(tool.inputSchema, args)) return { status: "error", error: firstProblem(tool.inputSchema, args, "") };
      try {
        return { status: "ok", outcome: await act(actions, tool.name, args as Args) } satisfies ToolResult;
      } catch (error) {
        signal.throwIfAborted();
        const problem = error instanceof AppError ? error.message : "The memory could not be changed; try again.";
        return { status: "error", error: problem };
      }
    },
  };
}

interface Args {
  readonly id?: string;
  readonly content?: string;
  readonly tags?: readonly string[];
  readonly expiresAt?: string;
  readonly tag?: string;
  readonly limit?: number;
}

async function act(actions: MemoryActions, name: (typeof TOOLS)[number]["name"], args: Args): Promise<unknown> {
  const { id = "", content = "", tag, limit, ...rest } = args;
  switch (name) {
    case "memory:list":
      return actions.list({ ...defined({ tag, limit }) });
    case "memory:get":
      return actions.get(id);
    case "memory:put":
      return actions.put({ content, ...rest, ...(id === "" ? {} : { id }) });
    case "memory:delete":
      return actions.delete(id);
  }
}

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

/**
 * The memory tools of an allow-list on entries that were read before. As in a run, what is written is not seen by who wrote it; here it
 * is checked and then discarded, so that no evaluation changes what an agent remembers.
 */
export function snapshotTools(
  toolAllowlist: readonly string[],
  entries: readonly MemoryEntry[],
  newId: (prefix: "mem") => string,
): ToolSurface {
  return memoryTools(toolAllowlist, {
    list: async (options) => selected(entries, options),
    get: async (id) => entries.find((entry) => entry.id === id) ?? null,
    put: async ({ id = newId("mem"), content, expiresAt }) => {
      checkEntry({ id, content, expiresAt });
      return { id };
    },
    delete: async (id) => (entries.some((entry) => entry.id === id) ? { id } : null),
  });
}
