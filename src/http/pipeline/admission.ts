import type { Authenticator } from "../../engine/identity/authenticate.ts";
import type { Authorizer } from "../../engine/identity/roles.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Scope } from "../../protocol/identity/scopes.ts";

/** The credentials and scopes that a request was admitted with. */
export interface Admission {
  readonly authorization: string | undefined;
  readonly caller: Caller;
  readonly scopes: readonly Scope[];
}

export interface AdmissionDeps {
  readonly authenticator: Pick<Authenticator, "authenticate">;
  readonly authorizer: Pick<Authorizer, "authorize">;
}

/**
 * The caller with its present roles and scopes. A request or an answer that takes time outlives the check that it began with. Throws
 * where the request would be refused by now.
 */
export async function admitAgain(
  { authenticator, authorizer }: AdmissionDeps,
  { authorization, caller, scopes }: Admission,
): Promise<Caller> {
  const now = await authenticator.authenticate(authorization);
  // A key that was moved is another key: the request was admitted to one place.
  if (now.tenant !== caller.tenant || now.workspace !== caller.workspace) throw new AppError("unauthenticated");
  for (const scope of scopes) await authorizer.authorize(now, scope);
  return now;
}
