import { openPack, type PackDesk } from "../../agents/packs/open-pack.ts";
import { readPackArchive } from "../../agents/packs/pack-archive.ts";
import { BadPack, type PackFiles } from "../../agents/packs/pack-files.ts";
import { installPack } from "../../agents/registry/install-pack.ts";
import { agentVersions, inventory, inventoryEntry } from "../../agents/registry/inventory.ts";
import { auditDraft } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { packSuites } from "../../evals/suite/suite-store.ts";
import type { AGENT_OPERATIONS } from "../../protocol/agents/operations.ts";
import { defined } from "../../protocol/defined.ts";
import { advertises } from "../../protocol/discovery.ts";
import { validationError } from "../../protocol/errors.ts";
import { discoveredOf, discoveryDocument } from "../documents/discovery.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import type { HandlersOf } from "../pipeline/handler.ts";
import { createdOrFound, ok } from "../pipeline/reply.ts";

export function agentRoutes(deps: HttpDeps): HandlersOf<typeof AGENT_OPERATIONS> {
  const document = discoveryDocument(discoveredOf(deps));
  const serves = (capability: string) => advertises(document, capability);
  const { agents } = deps.evals;
  const on = ({ store }: Host) => ({ store, agents, serves });
  return {
    listAgents: async ({ host, caller }) => ok(await inventory(on(host), caller)),
    getAgent: async ({ host, caller, params }) => ok(await inventoryEntry(on(host), caller, params.agentId)),
    listAgentVersions: async ({ host, caller, params }) => ok(await agentVersions(on(host), caller, params.agentId)),
    installPack: async ({ host, caller, bodyBytes }) => {
      const { tenant, workspace, principal: by } = caller;
      return createdOrFound(
        await installPack(host, {
          ...openPack(await filesOf(bodyBytes), deskOf(host, deps.trust, serves)),
          place: { tenant, ...defined({ workspace }) },
          by,
          audit: (target, details, atMs) => auditDraft(caller, atMs, target, { action: "pack.installed", details }),
        }),
      );
    },
  };
}

function deskOf(host: Host, trust: PackDesk["trust"], serves: PackDesk["serves"]): PackDesk {
  return { trust, suites: packSuites(host.scrubber), scrubber: host.scrubber, serves };
}

async function filesOf(bytes: Uint8Array): Promise<PackFiles> {
  try {
    return await readPackArchive(bytes);
  } catch (error) {
    if (error instanceof BadPack) throw validationError(`the pack ${error.message}`);
    throw error;
  }
}
