import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Voter } from "../../protocol/gates/gate-rules.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import {
  BUILT_IN_ROLES,
  type Decision,
  decideScope,
  type RoleTable,
  roleContains,
} from "../../protocol/identity/scopes.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { RoleBinding } from "../../store/port/store.ts";
import { auditDraft, execute } from "../execute.ts";
import { findInterrupt } from "../gates/decide/resolve-interrupt.ts";
import { denied } from "../gates/decide/vote.ts";
import type { Host } from "../host.ts";
import { atMostEvery } from "../shared/once-only.ts";
import { ShortCache } from "../shared/short-cache.ts";

/** The built-in roles and those of the workspace, which cannot redefine built-in ones. */
export async function roleTable({ store }: Pick<Host, "store">, visible: Visibility): Promise<RoleTable> {
  return { ...(await store.customRoles(visible.tenant, visible.workspace)), ...BUILT_IN_ROLES };
}

export interface Authorizer {
  /** Whether the key and a role of the principal grant the scope. Denies where the roles cannot be read. */
  decide(caller: Pick<Caller, "tenant" | "workspace" | "roles" | "keyScopes">, scope: string): Promise<Decision>;
  /** Throws `forbidden` where they do not, and records the denial. */
  authorize(caller: Caller, scope: string): Promise<void>;
  close(): void;
}

/** The time between two records of the same denial: a flood of requests must not flood the audit chain. */
const DENIAL_MS = 60_000;

export function authorizer(
  host: Pick<Host, "store" | "nowMs">,
  { cacheMs = 1000, onTrouble = () => {} }: { cacheMs?: number; onTrouble?: (error: unknown) => void } = {},
): Authorizer {
  const { store, nowMs } = host;
  const tables = new ShortCache<RoleTable>({
    keepMs: cacheMs,
    nowMs,
    load: (place) => roleTable(host, JSON.parse(place) as Visibility),
  });
  const close = store.onChange((change) => {
    if (change.keys) tables.clear();
  });
  const isNews = atMostEvery(DENIAL_MS);

  async function decide(caller: Parameters<Authorizer["decide"]>[0], scope: string): Promise<Decision> {
    const builtIn = decideScope(caller, scope);
    const others = caller.roles.some((role) => !Object.hasOwn(BUILT_IN_ROLES, role));
    if (builtIn.allowed || builtIn.missingFrom === "the key" || !others) return builtIn;
    const { tenant, workspace } = caller;
    try {
      return decideScope(caller, scope, await tables.get(JSON.stringify({ tenant, workspace })));
    } catch (error) {
      // Spec §3.4: a resolver error denies.
      onTrouble(error);
      return builtIn;
    }
  }

  async function recordDenial(caller: Caller, scope: string, missingFrom: string): Promise<void> {
    const details = { scopeRequired: scope, missingFrom };
    const draft = auditDraft(caller, nowMs(), scope, { action: "authorization.denied", details });
    // The denial does not depend on its record.
    await store.commit({ tenant: caller.tenant, audit: [draft] }).catch(onTrouble);
  }

  return {
    decide,
    async authorize(caller, scope) {
      const decision = await decide(caller, scope);
      if (decision.allowed) return;
      const { missingFrom } = decision;
      if (isNews(`${caller.keyId} ${scope}`, nowMs())) await recordDenial(caller, scope, missingFrom);
      throw new AppError("forbidden", { scopeRequired: scope, missingFrom });
    },
    close,
  };
}

/** The binding with the given roles and groups; undefined without either. Members that are not given stay as they are. */
export function bindingAfter(
  place: Visibility,
  principal: string,
  { roles, groups }: Partial<Membership>,
): RoleBinding | undefined {
  if (roles === undefined && groups === undefined) return undefined;
  const given = defined({ roles: roles && [...new Set(roles)], groups: groups && [...new Set(groups)] });
  return { ...place, principal, ...given };
}

export function isAdmin({ roles }: Pick<Caller, "roles">): boolean {
  return roles.some((role) => roleContains(role, "admin"));
}

/** Records in the log of a visible run that a principal without the scope tried to answer an interrupt. The audit chain has the denial already. */
export async function noteDenial(
  host: Host,
  caller: Caller,
  { runId, nodeId }: { readonly runId: string; readonly nodeId: string },
  problem: string,
): Promise<void> {
  const { principal, kind } = caller;
  const answerer: Voter = { principal, kind, roles: [], groups: [], grants: () => false };
  try {
    await execute(host, {
      caller,
      runId,
      decide: (run) => {
        const interrupt = findInterrupt(run, { nodeId });
        return interrupt?.status === "open" ? denied(interrupt, answerer, problem).events : [];
      },
      result: () => undefined,
      record: () => undefined,
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
