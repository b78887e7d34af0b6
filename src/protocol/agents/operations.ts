import { operations } from "../operation.ts";
import { AgentEntry, AgentInventory, AgentVersions, InstallPackResponse } from "./api.ts";

const OURS = "/v1/host/assay/agents";

const common = { tag: "agents", capability: "agents" } as const;

/** The agents of a host. A run invokes an agent; these routes do not. */
export const AGENT_OPERATIONS = operations(common, {
  listAgents: {
    method: "GET",
    path: "/v1/agents",
    summary:
      "The agents that are installed for this key, by id; of each the highest active version, else the highest there is.",
    access: "manifest:read",
    success: { status: 200, schema: AgentInventory },
  },
  getAgent: {
    method: "GET",
    path: "/v1/agents/{agentId}",
    summary: "One of them.",
    access: "manifest:read",
    success: { status: 200, schema: AgentEntry },
  },
  listAgentVersions: {
    method: "GET",
    path: `${OURS}/{agentId}/versions`,
    summary: "Every installed version of an agent, where it came from, and whether it can be called.",
    access: "manifest:read",
    success: { status: 200, schema: AgentVersions },
  },
  installPack: {
    method: "POST",
    path: `${OURS}:install`,
    summary:
      "Install a pack of agents, sent as a tar archive that may be compressed, for the tenant of the key, or its workspace.",
    access: "agents:install",
    takesPack: true,
    success: { status: 201, schema: InstallPackResponse },
    otherwise: { status: 200, schema: InstallPackResponse, summary: "The same pack was here already." },
    errors: ["pack_not_trusted", "pack_conflict", "pack_peer_dependency_missing", "suite_conflict"],
  },
});
