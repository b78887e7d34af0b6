import type { Caller } from "../protocol/identity.ts";
import { roleContains } from "../protocol/scopes.ts";

export function isAdmin({ roles }: Pick<Caller, "roles">): boolean {
  return roles.some((role) => roleContains(role, "admin"));
}
