import { AppError } from "../../protocol/errors.ts";
import type { Documents, DocumentWrite } from "../../store/port/documents.ts";
import type { Store } from "../../store/port/store.ts";
import { serializeFor } from "../shared/serialize.ts";

interface PrincipalsHost {
  readonly store: Store;
  readonly nowMs: () => number;
}

const TRIES = 10;

/**
 * Makes a change that was decided by the keys, roles and groups of a principal, with the document that such changes write: of two in the same
 * moment, on any hosts, the later one is decided again. Otherwise a key could be made by somebody for a principal that rises above him
 * meanwhile. `change` may be called several times and commits the document with what it decided.
 */
export async function changePrincipal<T>(
  { store, nowMs }: PrincipalsHost,
  { tenant, principal }: { readonly tenant: string; readonly principal: string },
  change: (turn: DocumentWrite) => Promise<T>,
): Promise<T> {
  return serializeFor(store, JSON.stringify(["principal", tenant, principal]), async () => {
    for (let tries = 1; ; tries++) {
      const turn = await turnOf(store, tenant, principal, nowMs());
      try {
        return await change(turn);
      } catch (error) {
        if (tries === TRIES || !isConflict(error)) throw error;
      }
    }
  });
}

async function turnOf(store: Documents, tenant: string, principal: string, atMs: number): Promise<DocumentWrite> {
  const id = { tenant, kind: "principal", key: principal } as const;
  const revision = ((await store.readDocument(id))?.revision ?? 0) + 1;
  return { type: "put", document: { ...id, revision, atMs, body: "{}" } };
}

function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === "document_conflict" && error.details?.["what"] === "principal";
}
