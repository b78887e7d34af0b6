import { allDocuments, sizePages } from "../../engine/shared/all-documents.ts";
import { serializeFor } from "../../engine/shared/serialize.ts";
import { pauses } from "../../engine/worker/pauses.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { compareSemver } from "../../protocol/semver.ts";
import type { Document, Documents } from "../../store/port/documents.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import type { InstalledAgent, WantedVersions } from "../agents.ts";

/** The place of an installation: every tenant, one tenant, or one workspace of it. */
export interface Place {
  readonly tenant: string;
  readonly workspace?: string;
}

export const EVERYWHERE: Place = { tenant: HOST_WIDE };

/** Agents and packs alike. A workspace may have its own under a name that others have too. */
export function keyIn(name: string, version: string, { workspace }: Place): string {
  return workspace === undefined ? `${name}@${version}` : `${name}@${version}/${workspace}`;
}

export interface Installation {
  readonly packSha256: string;
  readonly signedBy?: string;
  readonly installedBy: string;
  readonly installedAt: string;
}

/** A document of kind `agent`. */
export interface AgentRecord {
  readonly agent: InstalledAgent;
  readonly installation: Installation;
}

/** The inventory entry of an agent: all but its prompt and its schemas. */
export type ListedAgent = Omit<InstalledAgent, "systemPrompt" | "taskSchema" | "returnSchema"> & {
  readonly hasHandoffSchemas: boolean;
};

/** A document of kind `agent-pack`: inventories are read from these, since agents with their prompts are large. */
export interface PackRecord {
  readonly name: string;
  readonly version: string;
  readonly installation: Installation;
  readonly agents: readonly ListedAgent[];
  /** References as `id@version`. */
  readonly suites: readonly string[];
}

export function listed({ systemPrompt: _, taskSchema, returnSchema, ...agent }: InstalledAgent): ListedAgent {
  return { ...agent, hasHandoffSchemas: taskSchema !== undefined || returnSchema !== undefined };
}

export interface SeenAgent extends AgentRecord {
  readonly place: Place;
}

/**
 * Agents that can be called: those of the workspace, the tenant and the host, the highest version first. Of two with one version, that of
 * the workspace counts before that of the tenant and the host. Outside of all workspaces none of theirs counts: a workspace must not
 * decide what the runs of the tenant call.
 */
export async function versionsOf(
  store: Documents,
  visible: Visibility,
  agentId: string,
  wanted?: WantedVersions,
): Promise<InstalledAgent[]> {
  const { workspace } = visible;
  const isCallable = workspace === undefined ? isOfTenant : () => true;
  if (wanted !== undefined && "texts" in wanted) {
    const records = await listedRecords(store, visible, agentId, isCallable);
    return records.map(({ agent }) => ({ ...agent, systemPrompt: "" }));
  }
  const records = await agentRecords(store, visible, agentId, wanted, isCallable);
  return records.map(({ agent }) => agent);
}

function isOfTenant({ workspace }: Place): boolean {
  return workspace === undefined;
}

/** Records of the visible versions, the highest first, each of the nearest place. */
export async function agentRecords(
  store: Documents,
  visible: Visibility,
  agentId: string,
  wanted?: Exclude<WantedVersions, { readonly texts: false }>,
  isSeen: (place: Place) => boolean = () => true,
): Promise<SeenAgent[]> {
  const version = wanted !== undefined && "version" in wanted ? wanted.version : undefined;
  const found = await versionKeys(store, visible, agentId, version, isSeen);
  const records: SeenAgent[] = [];
  for (const one of wanted !== undefined && "highest" in wanted ? found.slice(0, 1) : found) {
    const document = await store.readDocument({ tenant: one.place.tenant, kind: "agent", key: one.key });
    if (document !== undefined) records.push({ ...(JSON.parse(document.body) as AgentRecord), place: one.place });
  }
  return records;
}

export interface ListedRecord {
  readonly agent: ListedAgent;
  readonly installation: Installation;
  readonly place: Place;
}

/** The same for lists: prompts of all versions are not in memory at once, and those of one tenant are read one list at a time. */
export async function listedRecords(
  store: Documents,
  visible: Visibility,
  agentId: string,
  isSeen: (place: Place) => boolean = () => true,
): Promise<ListedRecord[]> {
  return serializeFor(store, `versions of agents of ${visible.tenant}`, async () => {
    const pause = pauses();
    const records: ListedRecord[] = [];
    for (const { key, place } of await versionKeys(store, visible, agentId, undefined, isSeen)) {
      const document = await store.readDocument({ tenant: place.tenant, kind: "agent", key });
      if (document === undefined) continue;
      const { agent, installation } = JSON.parse(document.body) as AgentRecord;
      records.push({ agent: listed(agent), installation, place });
      await pause();
    }
    return records;
  });
}

interface VersionKey {
  readonly key: string;
  readonly version: string;
  readonly place: Place;
}

/** Keys of the visible versions, the highest first, each of the nearest place. */
async function versionKeys(
  store: Documents,
  visible: Visibility,
  agentId: string,
  version: string | undefined,
  isSeen: (place: Place) => boolean,
): Promise<VersionKey[]> {
  const prefix = `${agentId}@${version ?? ""}`;
  const keysIn = async (tenant: string) => {
    const found: VersionKey[] = [];
    for await (const page of sizePages(store, tenant, "agent", { prefix })) {
      found.push(...page.map(({ key }) => versionKey(tenant, agentId, key)));
    }
    return found;
  };
  const [own, wide] = await Promise.all([keysIn(visible.tenant), keysIn(HOST_WIDE)]);
  const nearest = new Map<string, VersionKey>();
  for (const one of nearestFirst(visible, own, wide, ({ place }) => place.workspace)) {
    const isWanted = version === undefined || one.version === version;
    if (isWanted && isSeen(one.place) && !nearest.has(one.version)) nearest.set(one.version, one);
  }
  return [...nearest.values()].sort((a, b) => compareSemver(b.version, a.version));
}

/** What `keyIn` made the key from. */
function versionKey(tenant: string, agentId: string, key: string): VersionKey {
  const [version = "", ...workspace] = key.slice(agentId.length + 1).split("/");
  return { key, version, place: workspace.length === 0 ? { tenant } : { tenant, workspace: workspace.join("/") } };
}

/** The versions of each agent, the highest first. */
export async function listedAgents(store: Documents, visible: Visibility): Promise<Map<string, ListedAgent[]>> {
  const nearest = new Map<string, ListedAgent>();
  for (const { agents } of await packs(store, visible)) {
    for (const agent of agents) {
      const ref = `${agent.agentId}@${agent.version}`;
      if (!nearest.has(ref)) nearest.set(ref, agent);
    }
  }
  const sorted = [...nearest.values()].sort((a, b) => compareSemver(b.version, a.version));
  const byAgent = new Map<string, ListedAgent[]>();
  for (const agent of sorted) byAgent.set(agent.agentId, [...(byAgent.get(agent.agentId) ?? []), agent]);
  return byAgent;
}

interface ListedPack extends Pick<PackRecord, "agents"> {
  readonly workspace: string | undefined;
}

/** The visible packs, the nearest first: of the workspace, of the tenant, of the host. Those of one tenant are read one list at a time. */
function packs(store: Documents, visible: Visibility): Promise<ListedPack[]> {
  return serializeFor(store, `packs of ${visible.tenant}`, async () => {
    const own = await allDocuments(store, visible.tenant, "agent-pack", {}, listedPack);
    const wide = await allDocuments(store, HOST_WIDE, "agent-pack", {}, listedPack);
    return nearestFirst(visible, own, wide, ({ workspace }) => workspace);
  });
}

function listedPack({ workspace, body }: Document): ListedPack {
  return { workspace, agents: (JSON.parse(body) as PackRecord).agents };
}

function nearestFirst<T>(
  visible: Visibility,
  own: readonly T[],
  wide: readonly T[],
  workspaceOf: (one: T) => string | undefined,
): T[] {
  const ofTenant = own.filter((one) => workspaceOf(one) === undefined);
  const ofWorkspaces = own.filter((one) => workspaceOf(one) !== undefined);
  // Callers who see all workspaces get the tenant's and the host's before that of a workspace.
  if (visible.workspace === undefined) return [...ofTenant, ...wide, ...ofWorkspaces];
  return [...ofWorkspaces.filter((one) => workspaceOf(one) === visible.workspace), ...ofTenant, ...wide];
}
