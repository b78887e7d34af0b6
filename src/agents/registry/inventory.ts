import type { AgentEntry, AgentInventory, AgentVersions, MemoryDimension } from "../../protocol/agents/api.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { compareSemver } from "../../protocol/semver.ts";
import type { Documents } from "../../store/port/documents.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import type { Agents, InstalledAgent } from "../agents.ts";
import {
  agentRecords,
  EVERYWHERE,
  type Installation,
  type ListedAgent,
  type ListedRecord,
  listed,
  listedAgents,
  listedRecords,
} from "./stored-agents.ts";

export interface InventoryOf {
  readonly store: Documents;
  readonly agents: Pick<Agents, "activeVersions" | "bindingFor" | "builtIn">;
  /** Whether discovery advertises it. */
  readonly serves: (capability: string) => boolean;
}

/** The agents installed for the caller, in the order of ids. */
export async function inventory(from: InventoryOf, visible: Visibility): Promise<AgentInventory> {
  const byAgent = await listedAgents(from.store, visible);
  for (const agent of from.agents.builtIn ?? []) {
    if (!byAgent.has(agent.agentId)) byAgent.set(agent.agentId, [listed(agent)]);
  }
  const ids = [...byAgent.keys()].sort();
  const agents = await Promise.all(ids.map((id) => entryOf(from, visible, byAgent.get(id) ?? [])));
  return { agents, total: agents.length };
}

/** Throws `not_found` for what is not there and what is another tenant's alike. */
export async function inventoryEntry(from: InventoryOf, visible: Visibility, agentId: string): Promise<AgentEntry> {
  const installed = await shown(from, visible, agentId);
  const known = installed.length > 0 ? installed : besideOf(from, agentId);
  return entryOf(from, visible, known.map(listed), agentId);
}

/** The highest active version, or the highest. */
async function shown({ store, agents }: InventoryOf, visible: Visibility, agentId: string): Promise<InstalledAgent[]> {
  const active = [...(await agents.activeVersions(visible, agentId))].sort((a, b) => compareSemver(b, a));
  for (const version of active) {
    const [found] = await agentRecords(store, visible, agentId, { version });
    if (found !== undefined) return [found.agent];
  }
  return (await agentRecords(store, visible, agentId, { highest: true })).map(({ agent }) => agent);
}

function besideOf({ agents }: InventoryOf, agentId: string): InstalledAgent[] {
  return agents.builtIn?.filter((agent) => agent.agentId === agentId) ?? [];
}

/** The version that is shown for all of them. */
async function entryOf(
  { agents, serves }: InventoryOf,
  visible: Visibility,
  versions: readonly ListedAgent[],
  agentId = versions[0]?.agentId ?? "",
): Promise<AgentEntry> {
  const active = versions.length === 0 ? [] : await agents.activeVersions(visible, agentId);
  const agent = versions.find(({ version }) => active.includes(version)) ?? versions[0];
  if (agent === undefined) throw notFound(agentId);
  return entry(agent, serves, isCallable(agents, agent, visible.tenant));
}

function isCallable({ bindingFor }: Pick<Agents, "bindingFor">, agent: ListedAgent, tenant: string): boolean {
  return bindingFor({ ...agent, systemPrompt: "" }, undefined, tenant) !== undefined;
}

/** An agent without a binding is listed, and cannot be called. */
const CALLING = "agents.liveRuntime";

function entry(agent: ListedAgent, serves: InventoryOf["serves"], callable: boolean): AgentEntry {
  const { description, memoryShape, confidenceThreshold, requiresCapabilities = [] } = agent;
  const lacking = requiresCapabilities.filter((capability) => !serves(capability));
  const degraded = [...new Set([...lacking, ...(callable ? [] : [CALLING])])];
  const forgotten = lackingMemory(memoryShape ?? {}, serves);
  return {
    agentId: agent.agentId,
    persona: agent.persona,
    label: agent.label ?? agent.persona,
    modelClass: agent.modelClass,
    packName: agent.packName,
    packVersion: agent.version,
    toolAllowlist: [...agent.toolAllowlist],
    hasHandoffSchemas: agent.hasHandoffSchemas,
    ...defined({ description, memoryShape, confidenceThreshold }),
    ...(degraded.length === 0 ? {} : { degraded }),
    ...(forgotten.length === 0 ? {} : { memoryDegraded: true, degradedMemoryDimensions: forgotten }),
  };
}

function lackingMemory(
  { scratchpad, conversation, longTerm }: NonNullable<ListedAgent["memoryShape"]>,
  serves: InventoryOf["serves"],
): MemoryDimension[] {
  const lacking: MemoryDimension[] = [];
  if ((scratchpad || conversation || longTerm) && !serves("memory")) lacking.push("read", "write");
  if (longTerm && !serves("agents.memoryBackends.long-term")) lacking.push("long-term-durability");
  return lacking;
}

interface KnownAgent extends Pick<ListedRecord, "agent" | "place"> {
  readonly installation: Pick<Installation, "signedBy" | "installedBy"> & Partial<Pick<Installation, "installedAt">>;
}

function ofTheHost(agent: InstalledAgent): KnownAgent {
  return { agent: listed(agent), place: EVERYWHERE, installation: { installedBy: "host" } };
}

/** Throws `not_found` as above. */
export async function agentVersions(from: InventoryOf, visible: Visibility, agentId: string): Promise<AgentVersions> {
  const installed: readonly KnownAgent[] = await listedRecords(from.store, visible, agentId);
  const records = installed.length > 0 ? installed : besideOf(from, agentId).map(ofTheHost);
  if (records.length === 0) throw notFound(agentId);
  const active = await from.agents.activeVersions(visible, agentId);
  const versions = records.map(({ agent, installation, place }) => {
    const { version, packName, contentHash, evalSuiteRef } = agent;
    const { signedBy, installedBy, installedAt } = installation;
    return {
      version,
      packName,
      contentHash,
      active: active.includes(version),
      callable: isCallable(from.agents, agent, visible.tenant),
      hostWide: place.tenant === HOST_WIDE,
      ...defined({ workspace: place.workspace, evalSuiteRef, signedBy }),
      installedBy,
      ...defined({ installedAt }),
    };
  });
  return { agentId, versions };
}

function notFound(agentId: string): AppError {
  return new AppError("not_found", { what: "agent", agentId });
}
