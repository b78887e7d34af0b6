import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../../protocol/errors.ts";
import { type Caller, OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import { SCOPES_BY_NAME } from "../../protocol/identity/scopes.ts";
import { matches, type Static, Type } from "../../protocol/schema.ts";
import type { Document, DocumentWrite } from "../../store/port/documents.ts";
import type { Store } from "../../store/port/store.ts";

/**
 * The makers of a key that was made over the API, in a document of their own. Keys of a `--keys` file, of the first start and of the operator's
 * command line have none, nor have older keys: they count for their principal alone.
 */
const KeyOrigin = Type.Object(
  {
    principal: Type.String(),
    /** The maker first, then the makers of the maker's own key. */
    makers: Type.Array(Type.String()),
    confirmedBy: Type.Optional(Type.String()),
    confirmedAt: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);
type KeyOrigin = Static<typeof KeyOrigin>;

const KIND = "key-origin";

export interface StoredOrigin {
  readonly document: Pick<Document, "tenant" | "key" | "revision">;
  readonly origin: KeyOrigin;
}

/** Documents that are in memory at once: a principal may have thousands of keys. */
const ORIGINS_AT_ONCE = 500;

export async function originsOf(
  store: Pick<Store, "readDocuments">,
  tenant: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, StoredOrigin>> {
  const found = new Map<string, StoredOrigin>();
  // Keys of one principal by one maker have the same origin, which is kept once.
  const known = new Map<string, KeyOrigin>();
  for (let i = 0; i < keyIds.length; i += ORIGINS_AT_ONCE) {
    if (i > 0) await nextTurn();
    for (const document of await store.readDocuments(tenant, KIND, keyIds.slice(i, i + ORIGINS_AT_ONCE))) {
      const { key, revision, body } = document;
      const origin = known.get(body) ?? originIn(document);
      known.set(body, origin);
      found.set(key, { document: { tenant, key, revision }, origin });
    }
  }
  return found;
}

/** Fails closed: an origin that cannot be read is an error, not a key without makers. */
function originIn({ key, body }: Document): KeyOrigin {
  const origin: unknown = JSON.parse(body);
  if (!matches(KeyOrigin, origin)) throw new Error(`the origin of key ${key} cannot be read`);
  return origin;
}

/** The makers of a key that no owner has confirmed. */
export function openMakers(stored: StoredOrigin | undefined): readonly string[] {
  return stored === undefined || stored.origin.confirmedBy !== undefined ? [] : stored.origin.makers;
}

export async function makersOf(
  store: Pick<Store, "readDocuments">,
  { tenant, keyId }: Pick<Caller, "tenant" | "keyId">,
): Promise<readonly string[]> {
  return openMakers((await originsOf(store, tenant, [keyId])).get(keyId));
}

/**
 * Makers of any unconfirmed key of these principals, revoked ones included. A run does not record which key started it, so each maker may have
 * started it in the principal's name.
 */
export async function makersOfPrincipals(
  store: Pick<Store, "readDocuments" | "keysOf">,
  tenant: string,
  principals: readonly string[],
): Promise<readonly string[]> {
  const keys = await store.keysOf({ tenant }, principals);
  const keyIds = keys.map(({ keyId }) => keyId);
  return [...new Set([...(await originsOf(store, tenant, keyIds)).values()].flatMap(openMakers))];
}

/** Principals whose keys are read at once; other work continues between two pages. */
const PRINCIPALS_AT_ONCE = 500;

/**
 * Principals with an unconfirmed key of another maker. A judgment does not record the key that made it.
 * @param worksThere whether a key of this workspace, or of the tenant, could have made the judgment
 */
export async function unconfirmedPrincipals(
  store: Pick<Store, "readDocuments" | "keysByPrincipal">,
  tenant: string,
  worksThere: (workspace: string | undefined) => boolean,
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let after = ""; ; await nextTurn()) {
    const page = await store.keysByPrincipal({ tenant }, after, PRINCIPALS_AT_ONCE);
    const last = page.at(-1);
    if (last === undefined) return [...found];
    const keys = page.filter(({ workspace }) => worksThere(workspace));
    const origins = await originsOf(
      store,
      tenant,
      keys.map(({ keyId }) => keyId),
    );
    for (const { keyId, principal } of keys) if (openMakers(origins.get(keyId)).length > 0) found.add(principal);
    after = last.principal;
  }
}

interface NewKey {
  readonly keyId: string;
  readonly tenant: string;
  readonly principal: string;
  readonly scopes: readonly string[];
}

/** Principals that made each other's keys without an owner's word: all of them are read with each key at the end of such a chain. */
const MAKERS_MAX = 8;

/**
 * The document to write with a new key. A key for the caller itself has the makers of the caller's key; a key that may relay votes has its maker
 * too, so that owners cannot give themselves the votes of others. Throws `forbidden` where the chain of makers is too long.
 */
export async function originWrite(
  store: Pick<Store, "readDocuments">,
  caller: Caller,
  { keyId, tenant, principal, scopes }: NewKey,
  atMs: number,
): Promise<DocumentWrite | undefined> {
  if (caller.keyId === OPERATOR_KEY_ID) return undefined;
  const inherited = await makersOf(store, caller);
  const isOwn = principal === caller.principal && !scopes.some((scope) => SCOPES_BY_NAME.has(scope));
  const makers = isOwn ? inherited : [...new Set([caller.principal, ...inherited])];
  if (makers.length > MAKERS_MAX) {
    const problem = `${MAKERS_MAX} principals made the keys of each other up to this one, and no owner confirmed any of them; let another owner confirm ${caller.principal} first`;
    throw new AppError("forbidden", { problem, limit: MAKERS_MAX });
  }
  return makers.length === 0 ? undefined : put(tenant, keyId, { principal, makers: [...makers] }, 0, atMs);
}

export function confirmedWrite({ document, origin }: StoredOrigin, by: string, atMs: number): DocumentWrite {
  const confirmed = { ...origin, confirmedBy: by, confirmedAt: new Date(atMs).toISOString() };
  return put(document.tenant, document.key, confirmed, document.revision, atMs);
}

function put(tenant: string, key: string, origin: KeyOrigin, revision: number, atMs: number): DocumentWrite {
  const document = { tenant, kind: KIND, key, revision: revision + 1, atMs, body: JSON.stringify(origin) } as const;
  return { type: "put", document };
}
