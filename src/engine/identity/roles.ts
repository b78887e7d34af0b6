import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import { BUILT_IN_ROLES, type Decision, decideScope, type RoleTable } from "../../protocol/identity/scopes.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { RoleBinding } from "../../store/port/store.ts";
import { auditDraft } from "../execute.ts";
import type { Host } from "../host.ts";
import { atMostEvery } from "../shared/at-most-every.ts";
import { ShortCache } from "../shared/short-cache.ts";

/** The built-in roles and those the workspace defines beside them. A built-in one cannot be redefined. */
export async function roleTable({ store }: Pick<Host, "store">, visible: Visibility): Promise<RoleTable> {
  return { ...(await store.customRoles(visible.tenant, visible.workspace)), ...BUILT_IN_ROLES };
}

export interface Authorizer {
  /** Whether the key and a role of the principal grant the scope. Denies when the roles cannot be read. */
  decide(caller: Pick<Caller, "tenant" | "workspace" | "roles" | "keyScopes">, scope: string): Promise<Decision>;
  /** Throws `forbidden` when they do not, and records the denial. */
  authorize(caller: Caller, scope: string): Promise<void>;
  close(): void;
}

/** Identical denials of one key are recorded at most this often: a flood of requests must not flood the chain. */
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
    // The answer is no in any case; a database that is away does not make it another.
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

/** The binding that a wish leads to, or undefined when there is none. What is not wished for stays as it is. */
export function bindingAfter(
  place: Visibility,
  principal: string,
  { roles, groups }: Partial<Membership>,
): RoleBinding | undefined {
  if (roles === undefined && groups === undefined) return undefined;
  return {
    ...place,
    principal,
    ...(roles === undefined ? {} : { roles: [...new Set(roles)] }),
    ...(groups === undefined ? {} : { groups: [...new Set(groups)] }),
  };
}
