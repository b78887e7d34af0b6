import type { PrincipalKind } from "../../protocol/identity/identity.ts";
import { json, type Row, table, text, time } from "./table.ts";

export const apiKeys = table(
  "api_keys",
  {
    key_id: text(),
    /** Unique. */
    hash: text(),
    tenant: text(),
    workspace: text().orNull,
    principal: text(),
    kind: text<PrincipalKind>(),
    scopes: json<readonly string[]>(),
    label: text().orNull,
    created_at: time(),
    expires_at: time().orNull,
    revoked_at: time().orNull,
    last_used_at: time().orNull,
  },
  {
    key: ["key_id"],
    changing: [
      "key_id",
      "tenant",
      "workspace",
      "principal",
      "kind",
      "scopes",
      "label",
      "created_at",
      "expires_at",
      "revoked_at",
    ],
  },
);
export type ApiKeysTable = Row<typeof apiKeys>;

/** Workspace "" is tenant-wide. */
export const roleBindings = table(
  "role_bindings",
  {
    tenant: text(),
    workspace: text(),
    principal: text(),
    roles: json<readonly string[]>(),
    group_names: json<readonly string[]>().as("groups").byDefault("[]"),
  },
  { key: ["tenant", "workspace", "principal"] },
);
export type RoleBindingsTable = Row<typeof roleBindings>;

/** Roles a workspace defines itself; workspace "" is tenant-wide. */
export const roleDefinitions = table(
  "role_definitions",
  { tenant: text(), workspace: text(), role: text(), scopes: json<readonly string[]>() },
  { key: ["tenant", "workspace", "role"] },
);
