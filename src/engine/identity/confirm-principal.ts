import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ConfirmPrincipalResponse } from "../../protocol/identity/api.ts";
import { type Caller, OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import { auditDraft, type Recorder } from "../execute.ts";
import { confirmedWrite, makersOf, openMakers, originsOf, type StoredOrigin } from "./key-origin.ts";
import { commitKeys, type KeyHost, visibilityOf } from "./keys.ts";

interface ConfirmPrincipal {
  readonly caller: Caller;
  readonly principal: string;
  readonly record: Recorder<ConfirmPrincipalResponse>;
}

/**
 * An owner's word that a principal is a person or program of its own: its keys, as far as the owner sees them, count beside
 * their makers from now on. Keys that are made later need another word. The owner is neither the principal nor one of
 * the makers, nor made by one of them: otherwise a maker could confirm what it made.
 */
export async function confirmPrincipal(host: KeyHost, command: ConfirmPrincipal): Promise<ConfirmPrincipalResponse> {
  const { caller, principal, record } = command;
  const { store } = host;
  const { tenant } = caller;
  const keys = await store.keysOf(visibilityOf(caller), [principal]);
  if (keys.length === 0) throw new AppError("not_found", { what: "principal", principal });
  const keyIds = keys.map(({ keyId }) => keyId);
  const open = [...(await originsOf(store, tenant, keyIds)).values()].filter((one) => openMakers(one).length > 0);
  await requireIndependentOwner(host, caller, principal, open);

  const nowMs = host.nowMs();
  const makers = [...new Set(open.flatMap(openMakers))].sort();
  const confirmed = open.map(({ document }) => document.key).sort();
  const response = { principal, makers, confirmedKeys: confirmed };
  const outcome = record(response);
  const details = { makers: makers.join(" "), keys: confirmed.join(" ") };
  if (open.length === 0 && outcome === undefined) return response;
  await commitKeys(host, {
    tenant,
    documents: open.map((one) => confirmedWrite(one, caller.principal, nowMs)),
    ...(open.length === 0
      ? {}
      : { audit: [auditDraft(caller, nowMs, principal, { action: "principal.confirmed", details })] }),
    ...defined({ idempotency: outcome }),
  });
  return response;
}

async function requireIndependentOwner(
  { store }: Pick<KeyHost, "store">,
  caller: Caller,
  principal: string,
  open: readonly StoredOrigin[],
): Promise<void> {
  if (caller.keyId === OPERATOR_KEY_ID) return;
  if (!caller.roles.includes("owner") || caller.kind !== "user") {
    throw refusedWith("a principal is confirmed by an owner, with a key of kind user", { roleRequired: "owner" });
  }
  const involved = new Set([principal, ...open.flatMap(openMakers)]);
  const own = [caller.principal, ...(await makersOf(store, caller))];
  const [party] = own.filter((one) => involved.has(one));
  if (party === undefined) return;
  const problem = `${party} is ${party === principal ? "the principal" : "a maker"} of these keys; an owner who has no part in them has to confirm ${principal}`;
  throw refusedWith(problem, { makers: [...involved].sort() });
}

function refusedWith(problem: string, details: Readonly<Record<string, unknown>>): AppError {
  return new AppError("forbidden", { problem, ...details });
}
