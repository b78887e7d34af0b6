import { type AnyCommand, CLIENT, command, DATABASE, type Flags } from "../program/command.ts";
import { about, tenant } from "./commands.ts";

const settings = [...CLIENT, ...DATABASE];
const workspace = { type: "text", value: "ID", summary: "One workspace instead of the whole tenant." } as const;
const ROLE = { name: "ROLE", summary: "The name of a role that is not built in." };

export const PLACE_FLAGS = { workspace, tenant } as const satisfies Flags;

export const roleList = command({
  name: "role list",
  summary: "List roles with their scopes.",
  about,
  args: [],
  flags: PLACE_FLAGS,
  settings,
  examples: ["assay role list", "assay role list --workspace east"],
  load: async () => (await import("./role-list.ts")).roleList,
});

export const ROLE_SET_FLAGS = {
  scopes: { type: "list", value: "LIST", summary: "What the role allows, or none: only gates ask for it. Required." },
  ...PLACE_FLAGS,
} as const satisfies Flags;

export const roleSet = command({
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
  load: async () => (await import("./role-set.ts")).roleSet,
});

export const roleRemove = command({
  name: "role remove",
  summary: "Remove a role; whoever holds it loses the scopes it granted.",
  about,
  args: [ROLE],
  flags: PLACE_FLAGS,
  settings,
  examples: ["assay role remove release-manager"],
  load: async () => (await import("./role-remove.ts")).roleRemove,
});

export const principalList = command({
  name: "principal list",
  summary: "List who has keys, with roles and groups; with a workspace, those that hold there.",
  about,
  args: [],
  flags: PLACE_FLAGS,
  settings,
  examples: ["assay principal list", "assay principal list --workspace east"],
  load: async () => (await import("./principal-list.ts")).principalList,
});

export const PRINCIPAL_SET_FLAGS = {
  roles: { type: "list", value: "LIST", summary: "The roles it has from now on, or none." },
  group: { type: "list", value: "GROUP", summary: "A group it is in from now on, or none. May be repeated." },
  ...PLACE_FLAGS,
} as const satisfies Flags;

export const principalSet = command({
  name: "principal set",
  summary: "Replace the roles or groups of somebody who has keys; what is not given stays.",
  about,
  args: [{ name: "PRINCIPAL", summary: "Who the keys speak for, as `principal list` prints it." }],
  flags: PRINCIPAL_SET_FLAGS,
  settings,
  examples: ["assay principal set ada --roles reviewer --group legal", "assay principal set ada --group none"],
  load: async () => (await import("./principal-set.ts")).principalSet,
});

export const PRINCIPAL_CONFIRM_FLAGS = { tenant } as const satisfies Flags;

export const principalConfirm = command({
  name: "principal confirm",
  summary: "Confirm as an owner that a principal is independent of those who made its keys.",
  about,
  args: [{ name: "PRINCIPAL", summary: "Who the keys speak for, as `principal list` prints it." }],
  flags: PRINCIPAL_CONFIRM_FLAGS,
  settings,
  examples: ["assay principal confirm ada"],
  load: async () => (await import("./principal-confirm.ts")).principalConfirm,
});

export const ROLE_COMMANDS: readonly AnyCommand[] = [
  roleList,
  roleSet,
  roleRemove,
  principalList,
  principalSet,
  principalConfirm,
];
