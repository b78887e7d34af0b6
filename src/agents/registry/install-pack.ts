import { refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import type { InstallPackResponse } from "../../protocol/agents/api.ts";
import { type AuditDraft, HOST_TENANT } from "../../protocol/audit/audit.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Document, DocumentKind, DocumentWrite } from "../../store/port/documents.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import type { TrustedPack } from "../packs/open-pack.ts";
import { type AgentRecord, type Installation, keyIn, listed, type PackRecord, type Place } from "./stored-agents.ts";

export interface InstallPack extends TrustedPack {
  readonly place: Place;
  readonly by: string;
  /** The entry of the audit log, for what was installed. */
  readonly audit: (target: string, details: Readonly<Record<string, unknown>>, atMs: number) => AuditDraft;
}

const ATTEMPTS = 3;

/**
 * A pack with its agents and its suites, or nothing of it. What is installed stays as it is: the same pack again changes nothing,
 * another one under its name, or another agent under the name and version of one, is refused.
 */
export async function installPack(
  host: Pick<Host, "store" | "nowMs">,
  command: InstallPack,
): Promise<InstallPackResponse> {
  for (let attempt = 1; ; attempt++) {
    const current = await currentPack(host, command);
    if (current !== undefined) return answer(command, false);
    const committed = await host.store.commit(await unitOf(host, command));
    if (committed.ok) return answer(command, true);
    // A concurrent request installed this pack first; its content decides.
    if (committed.refusal.type !== "document" || attempt === ATTEMPTS) throw refused(committed.refusal);
  }
}

/** The pack as it is installed here, if it is. Throws `pack_conflict` when another one has its name. */
export async function currentPack(
  { store }: Pick<Host, "store">,
  { pack, place }: Pick<InstallPack, "pack" | "place">,
): Promise<PackRecord | undefined> {
  const key = keyIn(pack.name, pack.version, place);
  const found = await store.readDocument({ tenant: place.tenant, kind: "agent-pack", key });
  if (found !== undefined) {
    const record = JSON.parse(found.body) as PackRecord;
    if (record.installation.packSha256 === pack.sha256) return record;
    const current = record.installation.packSha256;
    throw new AppError("pack_conflict", {
      pack: `Pack ${pack.name}@${pack.version}`,
      standing: current,
      sent: pack.sha256,
    });
  }
  const keys = pack.agents.map(({ agentId, version }) => keyIn(agentId, version, place));
  const [other] = await store.readDocuments(place.tenant, "agent", keys);
  if (other === undefined) return undefined;
  const { agent } = JSON.parse(other.body) as AgentRecord;
  const named = `Agent ${agent.agentId}@${agent.version} of pack ${agent.packName}`;
  throw new AppError("pack_conflict", { pack: named });
}

async function unitOf(host: Pick<Host, "store" | "nowMs">, { pack, signedBy, place, by, audit }: InstallPack) {
  const atMs = host.nowMs();
  const installation: Installation = {
    packSha256: pack.sha256,
    ...defined({ signedBy }),
    installedBy: by,
    installedAt: new Date(atMs).toISOString(),
  };
  const put = (kind: DocumentKind, key: string, body: PackRecord | AgentRecord): DocumentWrite => {
    const document: Document = { ...place, kind, key, revision: 1, atMs, body: JSON.stringify(body) };
    return { type: "put", document };
  };
  const { name, version, agents, suites } = pack;
  const record: PackRecord = {
    name,
    version,
    installation,
    agents: agents.map(listed),
    suites: suites.map(({ ref }) => ref),
  };
  const documents: DocumentWrite[] = [
    put("agent-pack", keyIn(name, version, place), record),
    ...agents.map((agent) => put("agent", keyIn(agent.agentId, version, place), { agent, installation })),
  ];
  const owner = { tenant: place.tenant, principal: by };
  for (const suite of suites) documents.push(...(await suite.writes(host.store, owner, atMs)));
  const details = {
    sha256: pack.sha256,
    agents: agents.map(({ agentId }) => agentId),
    signedBy: signedBy ?? null,
    ...defined({ workspace: place.workspace }),
  };
  const tenant = place.tenant === HOST_WIDE ? HOST_TENANT : place.tenant;
  return { tenant, documents, audit: [audit(`${name}@${version}`, details, atMs)] };
}

function answer({ pack, signedBy }: InstallPack, created: boolean): InstallPackResponse {
  return {
    packName: pack.name,
    packVersion: pack.version,
    sha256: pack.sha256,
    ...defined({ signedBy }),
    agents: pack.agents.map(({ agentId }) => agentId),
    suites: pack.suites.map(({ ref }) => ref),
    created,
  };
}
