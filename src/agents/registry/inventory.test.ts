import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packSuites } from "../../evals/suite/pack-suites.ts";
import { scrubber } from "../../formats/scrub.ts";
import type { AgentEntry } from "../../protocol/agent-api.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import { agentsOn } from "../../testing/agents-on.ts";
import { agentManifest, packFiles, packManifest } from "../../testing/packs.ts";
import { checkPack, requirePack } from "../packs/check-pack.ts";
import { installPack } from "./install-pack.ts";
import { inventoryEntry } from "./inventory.ts";
import { EVERYWHERE } from "./stored-agents.ts";

let store: Store;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
});
afterEach(() => store.close());

/** What is shown of an agent that wants this memory, on a host that serves these capabilities. */
async function shown(memoryShape: object, served: readonly string[]): Promise<AgentEntry> {
  const shapes = scrubber();
  const files = packFiles(packManifest({ agents: [agentManifest({ memoryShape })] }));
  const pack = requirePack(checkPack(files, packSuites(shapes), shapes));
  const audit = (target: string) => ({
    occurredAt: new Date(0).toISOString(),
    actor: "host",
    action: "x",
    target,
    details: {},
  });
  await installPack({ store, nowMs: () => 0 }, { pack, place: EVERYWHERE, by: "host", audit });
  const serves = (capability: string) => served.includes(capability);
  return inventoryEntry({ store, agents: agentsOn(store), serves }, { tenant: "t1" }, "local.acme.support.refunds");
}

const MEMORY = "memory";
const LONG = "agents.memoryBackends.long-term";

describe("an agent that remembers", () => {
  test.each([
    [{ scratchpad: true }, [], ["read", "write"]],
    [{ conversation: true, longTerm: false }, [], ["read", "write"]],
    [{ longTerm: true }, [], ["read", "write", "long-term-durability"]],
    [{ longTerm: true }, [MEMORY], ["long-term-durability"]],
  ])("with %j on a host that serves %j lacks %j", async (shape, served, lacking) => {
    expect(await shown(shape, served)).toMatchObject({
      memoryShape: shape,
      memoryDegraded: true,
      degradedMemoryDimensions: lacking,
    });
  });

  test.each([
    [{ scratchpad: true }, [MEMORY]],
    [{ longTerm: true, scratchpad: true }, [MEMORY, LONG]],
    [{ scratchpad: false }, []],
    [{}, []],
  ])("with %j on a host that serves %j lacks nothing", async (shape, served) => {
    const entry = await shown(shape, served);
    expect(entry).not.toHaveProperty("memoryDegraded");
    expect(entry).not.toHaveProperty("degradedMemoryDimensions");
  });
});
