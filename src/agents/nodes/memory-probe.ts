import type { EffectContext } from "../../engine/worker/node-type.ts";
import type { RunError } from "../../protocol/events.ts";
import { scopeFor, writtenEvent } from "../memory/agent-memory.ts";
import type { MemoryAdapter, NewEntry } from "../memory/memory-adapter.ts";
import type { MemoryScope } from "../memory/memory-document.ts";
import type { NamedSecret } from "../memory/redact.ts";

/** A secret that is none: what a conformance suite asks to be taken out of memories. */
export const TEST_SECRET: NamedSecret = {
  id: "conformance-test-secret",
  value: "conformance-test-secret-value-7f3a9c51",
};

export const MEMORY_ACTIONS = ["write-then-read", "ttl-probe", "redaction-probe", "cross-tenant-probe"] as const;
type MemoryAction = (typeof MEMORY_ACTIONS)[number];

type Probed = { readonly variables: Readonly<Record<string, unknown>> } | { readonly error: RunError };

const HOUR_MS = 3_600_000;

/** Does what a conformance suite wants to see of memories, with the same adapter that agents have. */
export async function probeMemory(
  context: EffectContext,
  memory: MemoryAdapter,
  secrets: readonly NamedSecret[],
  nowMs: number,
): Promise<Probed> {
  const { run, node, config } = context;
  const { agentId = "host:memory-probe", memoryRef } = node.agent ?? {};
  const scope = scopeFor(run.owner, agentId, memoryRef);
  const write = async (entry: NewEntry) => {
    const change = await memory.put(scope, entry, run.runId);
    await context.append([writtenEvent(node.id, node.agent?.agentId, scope, change)], { documents: [change.write] });
    return change.memoryId;
  };
  switch (config["memoryAction"] as MemoryAction) {
    case "write-then-read":
      await write({ content: `remembered by ${node.id}`, tags: ["conformance"] });
      return { variables: { memoryReadback: (await memory.list(scope, { limit: 1 }))[0] ?? null } };
    case "ttl-probe":
      await write({ content: "is over", tags: ["past"], expiresAt: new Date(nowMs - HOUR_MS).toISOString() });
      await write({ content: "still holds", tags: ["future"], expiresAt: new Date(nowMs + HOUR_MS).toISOString() });
      return { variables: { memoryList: await memory.list(scope) } };
    case "redaction-probe": {
      const secretId = String(config["byokSecretId"] ?? TEST_SECRET.id);
      const secret = secrets.find(({ id }) => id === secretId);
      if (secret === undefined) {
        const message = `Node ${node.id} asks for a secret that this host does not have.`;
        return { error: { code: "secret_not_found", message, details: { secretId } } };
      }
      const id = await write({ content: `The key is ${secret.value}; keep it.`, tags: ["conformance"] });
      return { variables: { memoryReadback: await memory.get(scope, id) } };
    }
    case "cross-tenant-probe": {
      const probed: MemoryScope = { ...scope, memoryRef: String(config["probeMemoryRef"] ?? scope.memoryRef) };
      return { variables: { crossTenantProbe: await memory.list(probed) } };
    }
  }
}
