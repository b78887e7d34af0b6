import { AppError } from "../../protocol/errors.ts";
import { type Caller, visibilityOf } from "../../protocol/identity/identity.ts";
import { decideScope } from "../../protocol/identity/scopes.ts";
import type { Documents, DocumentWrite } from "../../store/port/documents.ts";
import type { Store } from "../../store/port/store.ts";
import { serializeFor } from "../shared/serialize.ts";
import { callerWith } from "./authenticate.ts";
import { roleTable } from "./roles.ts";

interface PrincipalsHost {
  readonly store: Store;
  readonly nowMs: () => number;
}

interface Turn {
  /** The caller as it is now: its key may have been revoked, and its roles changed, while others had their turn. */
  readonly caller: Caller;
  /** To be committed with what is decided. */
  readonly write: DocumentWrite;
}

const TRIES = 10;

/**
 * Decides about a new key of a principal, or its roles and groups, and commits that. Such changes of a tenant take turns in this process, and of
 * two about one principal on different hosts the later one is decided again: a key must not be made by somebody for a principal that rises
 * above him meanwhile. `change` may be called several times.
 */
export function changePrincipal<T>(
  host: PrincipalsHost,
  caller: Caller,
  principal: string,
  change: (turn: Turn) => Promise<T>,
): Promise<T> {
  return serializeFor(host.store, `keys of ${caller.tenant}`, async () => {
    for (let tries = 1; ; tries++) {
      const write = await turnWrite(host.store, caller.tenant, principal, host.nowMs());
      const now = await callerNow(host, caller);
      try {
        return await change({ caller: now, write });
      } catch (error) {
        if (tries === TRIES || !isConflict(error)) throw error;
      }
    }
  });
}

async function turnWrite(store: Documents, tenant: string, principal: string, atMs: number): Promise<DocumentWrite> {
  const id = { tenant, kind: "principal", key: principal } as const;
  const revision = ((await store.readDocument(id))?.revision ?? 0) + 1;
  return { type: "put", document: { ...id, revision, atMs, body: "{}" } };
}

async function callerNow(host: PrincipalsHost, caller: Caller): Promise<Caller> {
  const key = await host.store.readKey(visibilityOf(caller), caller.keyId);
  // The operator on the database has none.
  if (key === undefined) return caller;
  const now = callerWith(key, host.nowMs());
  const decision = decideScope(now, SCOPE, await roleTable(host, now));
  if (!decision.allowed) throw new AppError("forbidden", { scopeRequired: SCOPE, missingFrom: decision.missingFrom });
  return now;
}

const SCOPE = "keys:manage";

function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === "document_conflict" && error.details?.["what"] === "principal";
}
