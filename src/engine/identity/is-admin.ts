import type { Caller } from "../../protocol/identity/identity.ts";
import { roleContains } from "../../protocol/identity/scopes.ts";

export function isAdmin({ roles }: Pick<Caller, "roles">): boolean {
  return roles.some((role) => roleContains(role, "admin"));
}
