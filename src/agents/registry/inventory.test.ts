import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packSuites } from "../../evals/suite/suite-store.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import type { AgentEntry } from "../../protocol/agents/api.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { agentsOn } from "../../testing/agents-on.ts";
import { agentOf } from "../../testing/eval-bench.ts";
import { agentManifest, packFiles, packManifest } from "../../testing/packs.ts";
import {
  CHANNEL_AGENT_ID,
  conformanceDeployments,
  LIVE_AGENT_ID,
  withConformanceAgent,
} from "../conformance-agents.ts";
import { checkPack, requirePack } from "../packs/check-pack.ts";
import { installPack } from "./install-pack.ts";
import { agentVersions, inventory, inventoryEntry } from "./inventory.ts";
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

describe("an agent that is there without being installed", () => {
  const agents = () => withConformanceAgent(agentsOn(store));
  const from = (those = agents()) => ({ store, agents: those, serves: () => true });
  const visible = { tenant: "t1" };

  test("is shown like any other, and not where something was installed under its name", async () => {
    const { agents: shownAgents, total } = await inventory(from(), visible);
    const ids = shownAgents.map(({ agentId }) => agentId);
    expect(ids).toEqual([...ids].sort());
    expect(total).toBe(ids.length);
    const shared = await inventoryEntry(from(), visible, "core.conformance.structured-agent");
    expect(shownAgents).toContainEqual(shared);
    expect(shared).toMatchObject({ packVersion: "1.0.0", hasHandoffSchemas: true });
    expect(shared).not.toHaveProperty("degraded");
    expect(shared).not.toHaveProperty("systemPrompt");
    const builtIn = [agentOf({ agentId: "local.acme.support.refunds", persona: "beside" })];
    await shown({}, []);
    const { agents: both } = await inventory(from({ ...agents(), builtIn }), visible);
    expect(both.map(({ persona }) => persona)).not.toContain("beside");
    const nearer = await inventoryEntry(from({ ...agents(), builtIn }), visible, "local.acme.support.refunds");
    expect(nearer.persona).not.toBe("beside");
    const cut = inventoryEntry(from(), visible, "local.acme.support.refund");
    await expect(cut).rejects.toMatchObject({ code: "not_found" });
  });

  test("has one version, of which it is told whether it is deployed", async () => {
    const those = withConformanceAgent(agentsOn(store, { fixedDeployments: conformanceDeployments }));
    const [channel, live] = await Promise.all(
      [CHANNEL_AGENT_ID, LIVE_AGENT_ID].map((id) => agentVersions(from(those), visible, id)),
    );
    const version = { version: "1.0.0", active: true, callable: true, hostWide: true, installedBy: "host" };
    expect(channel?.versions).toMatchObject([version]);
    expect(live?.versions).toMatchObject([{ ...version, active: false }]);
    expect(live?.versions[0]).not.toHaveProperty("installedAt");
    await expect(agentVersions(from(agentsOn(store)), visible, LIVE_AGENT_ID)).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("is not there for those whom nobody gave it", async () => {
    const { agents: none } = await inventory(from(agentsOn(store)), visible);
    expect(none).toEqual([]);
  });
});

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
