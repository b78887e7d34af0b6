import type { Caller, Owner } from "../../protocol/identity/identity.ts";
import type { KeyOutline } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { openMakers, originsOf } from "../identity/key-origin.ts";
import type { Relay } from "./decide/vote-origin.ts";

type RelayHost = Pick<Host, "store" | "nowMs" | "gates">;

/**
 * What is known of a voter that a relay names. Known is a principal with a key that works where the run is and that was not
 * made by the relay; by a setting any name is. Votes of a relay whose own key is not confirmed count as one.
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

async function usableKeys(
  { store, nowMs }: RelayHost,
  relay: Caller,
  { tenant, workspace }: Owner,
  voter: string,
): Promise<OwnKey[]> {
  const now = nowMs();
  const works = ({ revokedAtMs, expiresAtMs = Number.POSITIVE_INFINITY, workspace: bound = workspace }: KeyOutline) =>
    revokedAtMs === undefined && expiresAtMs > now && bound === workspace;
  const keys = (await store.keysOf({ tenant }, [voter])).filter(works);
  const origins = await originsOf(
    store,
    tenant,
    keys.map(({ keyId }) => keyId),
  );
  return keys
    .map(({ keyId, kind }) => ({ kind, makers: openMakers(origins.get(keyId)) }))
    .filter(({ makers }) => !makers.includes(relay.principal));
}

/** The voter that an answer names, when that is not the caller. */
export function namedVoter(value: unknown, { principal }: Pick<Caller, "principal">): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { voter } = value as { readonly voter?: unknown };
  return typeof voter === "string" && voter !== principal ? voter : undefined;
}
