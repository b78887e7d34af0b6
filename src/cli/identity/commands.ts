import { type AnyCommand, CLIENT, choice, command, DATABASE, list, text } from "../program/command.ts";

const keys = () => import("./keys.ts");
const roles = () => import("./roles.ts");

const settings = [...CLIENT, ...DATABASE];
const about =
  "Asks a server, or opens the database itself when --data or --database-url is given, which is the way in when the owner key is " +
  "lost. A SQLite database must not be in use by a server.";

const tenant = text("ID", "The tenant, when the database is opened; on a server it is the tenant of your key.");

export const KEY_CREATE_FLAGS = {
  principal: text("ID", "The principal that the key authenticates. Required."),
  roles: list("LIST", "owner, admin, reviewer, viewer (the default), or roles of the workspace."),
  group: list("GROUP", "A group of the principal, for gates that require one."),
  scopes: list("LIST", "The scopes that limit the key; those of your key unless given."),
  kind: choice(
    "KIND",
    ["user", "agent", "code"],
    "user, agent or code (an automatic check); the kind of your key unless given.",
  ),
  workspace: text("ID", "Bind the key to one workspace."),
  label: text("TEXT", "A note to recognise the key by."),
  expiresIn: text("TIME", "How long the key is valid: 45m, 12h, 30d."),
  expiresAt: text("INSTANT", "Until when the key is valid: 2030-01-31T12:00:00Z."),
  tenant,
};

export const TENANT_FLAGS = { tenant };

const workspace = text("ID", "One workspace instead of the whole tenant.");
const PRINCIPAL = { name: "PRINCIPAL", summary: "The name of a principal, as `principal list` prints it." };
const ROLE = { name: "ROLE", summary: "The name of a role that is not built in." };

export const PLACE_FLAGS = { workspace, tenant };

export const ROLE_SET_FLAGS = {
  scopes: list("LIST", "The scopes that the role grants, or none for a role that only gates ask for. Required."),
  ...PLACE_FLAGS,
};

export const PRINCIPAL_SET_FLAGS = {
  roles: list("LIST", "The roles that replace its roles, or none."),
  group: list("GROUP", "A group that replaces its groups, or none. May be repeated."),
  ...PLACE_FLAGS,
};

export const IDENTITY_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "key create",
    summary: "Create an API key; it is shown once.",
    about,
    flags: KEY_CREATE_FLAGS,
    settings,
    examples: [
      "assay key create --principal ci --kind agent --roles reviewer --expires-in 90d",
      "assay key create --principal me --roles owner --data .assay",
    ],
    load: async () => (await keys()).keyCreate,
  }),
  command({
    name: "key list",
    summary: "List API keys, without the keys themselves.",
    about,
    flags: TENANT_FLAGS,
    settings,
    examples: ["assay key list", "assay key list --data .assay"],
    load: async () => (await keys()).keyList,
  }),
  command({
    name: "key revoke",
    summary: "Revoke API keys now.",
    about,
    args: [{ name: "KEY_ID", summary: "The id of a key (key-…), as `key list` prints it; not the key.", many: true }],
    flags: TENANT_FLAGS,
    settings,
    examples: ["assay key revoke key-01k4…"],
    load: async () => (await keys()).keyRevoke,
  }),
  command({
    name: "whoami",
    summary: "Show the principal of your API key, and its scopes.",
    examples: ["assay whoami"],
    load: async () => (await keys()).whoami,
  }),
  command({
    name: "role list",
    summary: "List roles with their scopes.",
    about,
    flags: PLACE_FLAGS,
    settings,
    examples: ["assay role list", "assay role list --workspace east"],
    load: async () => (await roles()).roleList,
  }),
  command({
    name: "role set",
    summary: "Define a role, or replace it for all who hold it.",
    about,
    args: [ROLE],
    flags: ROLE_SET_FLAGS,
    settings,
    examples: [
      "assay role set release-manager --scopes runs:read,approvals:respond",
      "assay role set legal --scopes none",
    ],
    load: async () => (await roles()).roleSet,
  }),
  command({
    name: "role remove",
    summary: "Remove a role; its holders lose the scopes that it granted.",
    about,
    args: [ROLE],
    flags: PLACE_FLAGS,
    settings,
    examples: ["assay role remove release-manager"],
    load: async () => (await roles()).roleRemove,
  }),
  command({
    name: "principal list",
    summary:
      "List the principals that have keys, with the roles and groups that apply in the tenant or in a workspace.",
    about,
    flags: PLACE_FLAGS,
    settings,
    examples: ["assay principal list", "assay principal list --workspace east"],
    load: async () => (await roles()).principalList,
  }),
  command({
    name: "principal set",
    summary:
      "Replace the roles or groups of a principal that has keys; a flag that is not given leaves them unchanged.",
    about,
    args: [PRINCIPAL],
    flags: PRINCIPAL_SET_FLAGS,
    settings,
    examples: ["assay principal set ada --roles reviewer --group legal", "assay principal set ada --group none"],
    load: async () => (await roles()).principalSet,
  }),
  command({
    name: "principal confirm",
    summary: "Confirm as an owner that a principal is independent of the makers of its keys.",
    about,
    args: [PRINCIPAL],
    flags: TENANT_FLAGS,
    settings,
    examples: ["assay principal confirm ada"],
    load: async () => (await roles()).principalConfirm,
  }),
];
