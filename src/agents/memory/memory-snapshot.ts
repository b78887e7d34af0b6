import type { MemoryEntry } from "../../protocol/agents/memory.ts";
import type { ToolSurface } from "../tool-surface.ts";
import { checkEntry, selected } from "./memory-adapter.ts";
import { memoryTools } from "./memory-tools.ts";

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
