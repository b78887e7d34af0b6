import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { AgentDeployment } from "../../protocol/promotion/api.ts";
import { compareSemver } from "../../protocol/semver.ts";
import type { Documents } from "../../store/port/documents.ts";
import type { Agents } from "../agents.ts";
import { recordOf } from "./deployments.ts";
import { readDeployments } from "./stored-deployments.ts";

/** Longer ones cannot be deployed: the protocol has no place for them. */
const VERSION_LENGTH_MAX = 64;

/** `GET /v1/agents/{agentId}/deployments`: what is installed and was never promoted is a draft. */
export async function listDeployments(
  store: Documents,
  agents: Pick<Agents, "versionsOf" | "fixedDeployments">,
  visible: Visibility,
  agentId: string,
): Promise<AgentDeployment[]> {
  const installed = await agents.versionsOf(visible, agentId);
  if (installed.length === 0) throw new AppError("not_found", { what: "agent", agentId });
  const { now } = await readDeployments(store, visible, agentId, agents);
  const versions = new Set([...installed.map(({ version }) => version), ...Object.keys(now.versions)]);
  return [...versions]
    .filter(({ length }) => length <= VERSION_LENGTH_MAX)
    .sort(compareSemver)
    .map((version) => recordOf(now, version));
}
