import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { own } from "../../protocol/own.ts";
import type { AgentDeployment, DeploymentState } from "../../protocol/promotion/api.ts";
import { compareSemver } from "../../protocol/semver.ts";
import type { Document, Documents, DocumentWrite } from "../../store/port/documents.ts";
import type { Agents, InstalledAgent } from "../agents.ts";
import { activeOf, type Deployments, noDeployments, recordOf } from "./deployments.ts";

/** Deployments with the revision they were read at. */
export interface StoredDeployments {
  readonly now: Deployments;
  /** 0 where nothing is stored yet. */
  readonly revision: number;
}

/**
 * A workspace deploys for itself: versions active there are active nowhere else, and those of the tenant are not active there. A
 * caller gets only versions of the place that it asked for.
 */
function idOf({ tenant, workspace }: Visibility, agentId: string) {
  const key = workspace === undefined ? agentId : `${agentId}/${workspace}`;
  return { tenant, kind: "deployment" as const, key };
}

export async function readDeployments(
  store: Documents,
  place: Visibility,
  agentId: string,
  { fixedDeployments }: Pick<Agents, "fixedDeployments">,
): Promise<StoredDeployments> {
  const found = await store.readDocument(idOf(place, agentId));
  if (found === undefined) return { now: fixedDeployments?.(agentId) ?? noDeployments(agentId), revision: 0 };
  return { now: JSON.parse(found.body) as Deployments, revision: found.revision };
}

export function deploymentsWrite(
  place: Visibility,
  next: Deployments,
  { revision }: Pick<StoredDeployments, "revision">,
  atMs: number,
): DocumentWrite {
  const { workspace } = place;
  const document: Document = {
    ...idOf(place, next.agentId),
    ...defined({ workspace }),
    revision: revision + 1,
    atMs,
    body: JSON.stringify(next),
  };
  return { type: "put", document };
}

/** Whether an agent has the content that was promoted under its version; false for a version that never was. */
export async function isPromoted(
  store: Documents,
  place: Visibility,
  { agentId, version, contentHash }: Pick<InstalledAgent, "agentId" | "version" | "contentHash">,
  agents: Pick<Agents, "fixedDeployments"> = {},
): Promise<boolean> {
  const { now } = await readDeployments(store, place, agentId, agents);
  return own(now.versions, version)?.agentHash === contentHash;
}

/**
 * Versions for runs that name neither a version nor a channel: those active for all runs, the highest first. A version with a
 * share was approved for that share only. Undefined before any version was active: from then on nothing replaces a version that
 * was taken out of service.
 */
export async function unnamedVersions(
  store: Documents,
  place: Visibility,
  agentId: string,
  agents: Pick<Agents, "fixedDeployments"> = {},
): Promise<string[] | undefined> {
  const { now } = await readDeployments(store, place, agentId, agents);
  if (Object.values(now.versions).every(({ state }) => BEFORE_SERVICE.has(state))) return undefined;
  return activeOf(now).filter((version) => own(now.versions, version)?.canaryPercent === undefined);
}

const BEFORE_SERVICE: ReadonlySet<DeploymentState> = new Set(["draft", "test", "staged"]);

/** Versions that are deployed and active, the highest first. */
export async function activeVersions(
  store: Documents,
  place: Visibility,
  agentId: string,
  agents: Pick<Agents, "fixedDeployments"> = {},
): Promise<string[]> {
  return activeOf((await readDeployments(store, place, agentId, agents)).now);
}

/** Longer ones cannot be deployed: the protocol has no place for them. */
const VERSION_LENGTH_MAX = 64;

/** `GET /v1/agents/{agentId}/deployments`: what is installed and was never promoted is a draft. */
export async function listDeployments(
  store: Documents,
  agents: Pick<Agents, "versionsOf" | "fixedDeployments">,
  visible: Visibility,
  agentId: string,
): Promise<AgentDeployment[]> {
  const installed = await agents.versionsOf(visible, agentId, { texts: false });
  if (installed.length === 0) throw new AppError("not_found", { what: "agent", agentId });
  const { now } = await readDeployments(store, visible, agentId, agents);
  const versions = new Set([...installed.map(({ version }) => version), ...Object.keys(now.versions)]);
  return [...versions]
    .filter(({ length }) => length <= VERSION_LENGTH_MAX)
    .sort(compareSemver)
    .map((version) => recordOf(now, version));
}
