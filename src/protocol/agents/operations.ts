import type { ErrorCode } from "../errors.ts";
import { type Operation, PROTECTED } from "../operation.ts";
import { AgentEntry, AgentInventory, AgentVersions, InstallPackResponse } from "./api.ts";

const gate = { capability: "agents", off: "not_found" } as const;
const tag = "agents";
const READS: readonly ErrorCode[] = [...PROTECTED, "not_found"];
const OURS = "/v1/host/assay/agents";

/** The agents of a host. None is invoked here: that is a run. */
export const AGENT_OPERATIONS = {
  listAgents: {
    method: "GET",
    path: "/v1/agents",
    tag,
    summary:
      "The agents that are installed for this key, by id; of each the highest active version, else the highest there is.",
    access: "manifest:read",
    gate,
    success: { status: 200, schema: AgentInventory },
    errors: READS,
  },
  getAgent: {
    method: "GET",
    path: "/v1/agents/{agentId}",
    tag,
    summary: "One of them.",
    access: "manifest:read",
    gate,
    success: { status: 200, schema: AgentEntry },
    errors: READS,
  },
  listAgentVersions: {
    method: "GET",
    path: `${OURS}/{agentId}/versions`,
    tag,
    summary: "Every installed version of an agent, where it came from, and whether it can be called.",
    access: "manifest:read",
    gate,
    success: { status: 200, schema: AgentVersions },
    errors: READS,
  },
  installPack: {
    method: "POST",
    path: `${OURS}:install`,
    tag,
    summary:
      "Install a pack of agents, sent as a tar archive that may be compressed, for the tenant of the key, or its workspace.",
    access: "agents:install",
    gate,
    takesPack: true,
    success: { status: 201, schema: InstallPackResponse },
    otherwise: { status: 200, schema: InstallPackResponse, summary: "The same pack was here already." },
    errors: [
      ...READS,
      ...(["validation_error", "payload_too_large", "unsupported_media_type"] as const),
      ...(["pack_not_trusted", "pack_conflict", "pack_peer_dependency_missing", "suite_conflict"] as const),
    ],
  },
} as const satisfies Record<string, Operation>;
