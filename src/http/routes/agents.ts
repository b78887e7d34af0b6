import { openPack, type PackDesk } from "../../agents/packs/open-pack.ts";
import { readPackArchive } from "../../agents/packs/pack-archive.ts";
import { BadPack, type PackFiles } from "../../agents/packs/pack-files.ts";
import { installPack } from "../../agents/registry/install-pack.ts";
import { agentVersions, type InventoryOf, inventory, inventoryEntry } from "../../agents/registry/inventory.ts";
import { auditDraft } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { packSuites } from "../../evals/suite/suite-store.ts";
import { advertises } from "../../protocol/advertised.ts";
import type { AGENT_OPERATIONS } from "../../protocol/agents/operations.ts";
import { AppError } from "../../protocol/errors.ts";
import { discoveredOf, discoveryDocument } from "../documents/discovery.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import { callerOf, type Handler, type RequestContext } from "../pipeline/handler.ts";

export function agentRoutes(deps: HttpDeps): Readonly<Record<keyof typeof AGENT_OPERATIONS, Handler>> {
  const document = discoveryDocument(discoveredOf(deps));
  const serves = (capability: string) => advertises(document, capability);
  const { agents } = deps.evals;
  const of = ({ host }: RequestContext): InventoryOf => ({ store: host.store, agents, serves });
  const named = ({ params }: RequestContext) => params["agentId"] ?? "";
  return {
    listAgents: async (context) => ({ status: 200, json: await inventory(of(context), callerOf(context)) }),
    getAgent: async (context) => {
      return { status: 200, json: await inventoryEntry(of(context), callerOf(context), named(context)) };
    },
    listAgentVersions: async (context) => {
      return { status: 200, json: await agentVersions(of(context), callerOf(context), named(context)) };
    },
    installPack: async (context) => {
      const { host, bodyBytes } = context;
      const caller = callerOf(context);
      const { tenant, workspace, principal: by } = caller;
      const json = await installPack(host, {
        ...openPack(await filesOf(bodyBytes), deskOf(host, deps.trust, serves)),
        place: { tenant, ...(workspace === undefined ? {} : { workspace }) },
        by,
        audit: (target, details, atMs) => auditDraft(caller, atMs, target, { action: "pack.installed", details }),
      });
      return { status: json.created ? 201 : 200, json };
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
    if (error instanceof BadPack) throw new AppError("validation_error", { problem: `the pack ${error.message}` });
    throw error;
  }
}
