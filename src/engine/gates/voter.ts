import type { Voter } from "../../protocol/gates/gate-rules.ts";
import { type Caller, type Owner, type Visibility, visibilityOf } from "../../protocol/identity/identity.ts";
import { BUILT_IN_ROLES, decideScope } from "../../protocol/identity/scopes.ts";
import { isObject } from "../../protocol/own.ts";
import type { KeyOutline } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { openMakers, originsOf } from "../identity/key-origin.ts";
import { roleTable } from "../identity/roles.ts";
import type { Relay } from "./decide/vote.ts";

/**
 * The caller as a voter: the principal's roles and groups in the workspace of the run, read now. The roles of the key are those of the
 * key's workspace and do not count. An unknown principal has no roles, and roles that are not defined are left out.
 */
export async function voterOf(host: Pick<Host, "store">, caller: Caller, owner: Visibility): Promise<Voter> {
  const place = visibilityOf(owner);
  const { roles: bound, groups } = await host.store.membershipOf(place, caller.principal);
  const own = bound.some((role) => !Object.hasOwn(BUILT_IN_ROLES, role));
  const table = own ? await roleTable(host, place) : BUILT_IN_ROLES;
  const roles = bound.filter((role) => Object.hasOwn(table, role));
  const { principal, kind, keyScopes } = caller;
  const grants = (scope: string) => decideScope({ keyScopes, roles }, scope, table).allowed;
  // The request was authorised where the key is from; a workspace may define a role of the tenant with fewer scopes.
  const mayNotAnswer = caller.workspace !== place.workspace && !grants("approvals:respond");
  return { principal, kind, roles, groups, grants, ...(mayNotAnswer ? { mayNotAnswer } : {}) };
}

/** The holder of a token, of whom nothing else is known. */
export const TOKEN_HOLDER: Voter = { principal: "token", kind: "token", roles: [], groups: [], grants: () => false };

type RelayHost = Pick<Host, "store" | "nowMs" | "gates">;

/**
 * Facts about a voter that a relay names. A voter is known if it has a valid key for the place of the run that the relay did not make, or by
 * the setting `anyVoter`. Votes of a relay whose own key is not confirmed count as one.
 */
export async function relayFor(
  host: RelayHost,
  relay: Caller & { readonly makers: readonly string[] },
  owner: Owner,
  voter: string,
): Promise<Relay> {
  const { anyVoter = false, trustedRelays = [] } = host.gates;
  const trusts = ({ tenant, principal }: TrustedRelay) => tenant === relay.tenant && principal === relay.principal;
  const trusted = relay.makers.length === 0 && trustedRelays.some(trusts);
  const keys = await usableKeys(host, relay, owner, voter);
  const [best] = keys.toSorted((a, b) => a.makers.length - b.makers.length);
  const origin =
    relay.makers.length > 0 ? { makers: relay.makers, countsAs: relay.principal } : { makers: best?.makers ?? [] };
  return {
    known: anyVoter || best !== undefined,
    trusted,
    person: keys.some(({ kind }) => kind === "user"),
    ...origin,
  };
}

export interface TrustedRelay {
  readonly tenant: string;
  readonly principal: string;
}

type OwnKey = Pick<KeyOutline, "kind"> & { readonly makers: readonly string[] };

async function usableKeys(host: RelayHost, relay: Caller, owner: Owner, voter: string): Promise<OwnKey[]> {
  const keys = await workingKeys(host, owner, voter);
  const keyIds = keys.map(({ keyId }) => keyId);
  const origins = await originsOf(host.store, owner.tenant, keyIds);
  return keys
    .map(({ keyId, kind }) => ({ kind, makers: openMakers(origins.get(keyId)) }))
    .filter(({ makers }) => !makers.includes(relay.principal));
}

/** Whether the principal has a valid key of a person for this place. */
export async function isPerson(host: KeysHost, place: Visibility, principal: string): Promise<boolean> {
  return (await workingKeys(host, place, principal)).some(({ kind }) => kind === "user");
}

type KeysHost = Pick<Host, "store" | "nowMs">;

/** The valid keys of a principal that see what is in this place. */
async function workingKeys({ store, nowMs }: KeysHost, { tenant, workspace }: Visibility, principal: string) {
  const now = nowMs();
  return (await store.keysOf({ tenant }, [principal])).filter(
    ({ revokedAtMs, expiresAtMs = Number.POSITIVE_INFINITY, workspace: bound = workspace }) =>
      revokedAtMs === undefined && expiresAtMs > now && bound === workspace,
  );
}

/** The voter that an answer names, if it is not the caller. */
export function namedVoter(value: unknown, { principal }: Pick<Caller, "principal">): string | undefined {
  const voter = isObject(value) ? value["voter"] : undefined;
  return typeof voter === "string" && voter !== principal ? voter : undefined;
}
