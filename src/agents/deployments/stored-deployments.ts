import type { Visibility } from "../../protocol/identity.ts";
import type { Document, Documents, DocumentWrite } from "../../store/documents.ts";
import type { Agents } from "../agents.ts";
import { activeOf, type Deployments, noDeployments } from "./deployments.ts";

/** What is deployed, at the revision it was read at. */
export interface StoredDeployments {
  readonly now: Deployments;
  /** 0 where nothing is stored yet. */
  readonly revision: number;
}

/**
 * A workspace deploys for itself: what is active there is active nowhere else, and what is active in the tenant is not active there.
 * Nobody gets a version by way of a place that he did not ask.
 */
function idOf({ tenant, workspace }: Visibility, agentId: string) {
  const key = workspace === undefined ? agentId : `${agentId}/${workspace}`;
  return { tenant, kind: "deployment" as const, key };
}

export async function readDeployments(
  store: Documents,
  place: Visibility,
  agentId: string,
  { standing }: Pick<Agents, "standing">,
): Promise<StoredDeployments> {
  const found = await store.readDocument(idOf(place, agentId));
  if (found === undefined) return { now: standing?.(agentId) ?? noDeployments(agentId), revision: 0 };
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
    ...(workspace === undefined ? {} : { workspace }),
    revision: revision + 1,
    atMs,
    body: JSON.stringify(next),
  };
  return { type: "put", document };
}

/** Versions that are deployed and active, the highest first. */
export async function activeVersions(
  store: Documents,
  place: Visibility,
  agentId: string,
  agents: Pick<Agents, "standing"> = {},
): Promise<string[]> {
  return activeOf((await readDeployments(store, place, agentId, agents)).now);
}
