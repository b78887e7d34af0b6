import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Membership } from "../../store/port/gates.ts";
import type { RoleBinding } from "../../store/port/store.ts";

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
