import { allDocuments } from "../../engine/shared/all-documents.ts";
import { defined } from "../../protocol/defined.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { compareSemver } from "../../protocol/semver.ts";
import type { Document, Documents } from "../../store/port/documents.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import type { InstalledAgent } from "../agents.ts";

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

/** The origin of an agent or a pack. */
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
export async function versionsOf(store: Documents, visible: Visibility, agentId: string): Promise<InstalledAgent[]> {
  const { workspace } = visible;
  const records = await agentRecords(store, visible, agentId, workspace === undefined ? isOfTenant : () => true);
  return records.map(({ agent }) => agent);
}

function isOfTenant({ workspace }: Place): boolean {
  return workspace === undefined;
}

export async function agentRecords(
  store: Documents,
  visible: Visibility,
  agentId: string,
  isWanted: (place: Place) => boolean = () => true,
): Promise<SeenAgent[]> {
  const nearest = new Map<string, SeenAgent>();
  for (const document of (await seen(store, visible, "agent", `${agentId}@`)).filter(isWanted)) {
    const record = JSON.parse(document.body) as AgentRecord;
    if (!nearest.has(record.agent.version)) nearest.set(record.agent.version, { ...record, place: placeOf(document) });
  }
  return [...nearest.values()].sort((a, b) => compareSemver(b.agent.version, a.agent.version));
}

function placeOf({ tenant, workspace }: Document): Place {
  return { tenant, ...defined({ workspace }) };
}

/** The versions of each agent, the highest first. */
export async function listedAgents(store: Documents, visible: Visibility): Promise<Map<string, ListedAgent[]>> {
  const nearest = new Map<string, ListedAgent>();
  for (const { body } of await seen(store, visible, "agent-pack")) {
    for (const agent of (JSON.parse(body) as PackRecord).agents) {
      const ref = `${agent.agentId}@${agent.version}`;
      if (!nearest.has(ref)) nearest.set(ref, agent);
    }
  }
  const sorted = [...nearest.values()].sort((a, b) => compareSemver(b.version, a.version));
  const byAgent = new Map<string, ListedAgent[]>();
  for (const agent of sorted) byAgent.set(agent.agentId, [...(byAgent.get(agent.agentId) ?? []), agent]);
  return byAgent;
}

/** The visible records of a kind, the nearest first: of the workspace, of the tenant, of the host. */
async function seen(
  store: Documents,
  visible: Visibility,
  kind: "agent" | "agent-pack",
  prefix?: string,
): Promise<Document[]> {
  const [own, wide] = await Promise.all([
    allDocuments(store, visible.tenant, kind, { prefix }, asStored),
    allDocuments(store, HOST_WIDE, kind, { prefix }, asStored),
  ]);
  const ofTenant = own.filter(({ workspace }) => workspace === undefined);
  const ofWorkspaces = own.filter(({ workspace }) => workspace !== undefined);
  // Callers who see all workspaces get the tenant's and the host's before that of a workspace.
  if (visible.workspace === undefined) return [...ofTenant, ...wide, ...ofWorkspaces];
  return [...ofWorkspaces.filter(({ workspace }) => workspace === visible.workspace), ...ofTenant, ...wide];
}

function asStored(document: Document): Document {
  return document;
}
