import { type AnyCommand, CLIENT, command, DATABASE, type Flags } from "../program/command.ts";

export const about =
  "Talks to a server, unless --data or --database-url is given: then it opens the database itself, which is the way " +
  "back in when the owner key is lost. A SQLite database must not be in use then.";

export const tenant = {
  type: "text",
  value: "ID",
  summary: "The tenant, when the database is opened directly; else it is the tenant of your key.",
} as const;

export const KEY_CREATE_FLAGS = {
  principal: { type: "text", value: "ID", summary: "Who the key speaks for. Required." },
  roles: {
    type: "list",
    value: "LIST",
    summary: "owner, admin, reviewer, viewer (the default), or roles of the workspace.",
  },
  group: { type: "list", value: "GROUP", summary: "A group of the principal, for gates that ask for one." },
  scopes: { type: "list", value: "LIST", summary: "What the key may do at most; all that yours may unless given." },
  kind: {
    type: "text",
    value: "KIND",
    choices: ["user", "agent", "code"],
    summary: "user, agent or code (a check that runs by itself); else as the key that makes it.",
  },
  workspace: { type: "text", value: "ID", summary: "Bind the key to one workspace." },
  label: { type: "text", value: "TEXT", summary: "A note to recognise the key by." },
  expiresIn: { type: "text", value: "TIME", summary: "When the key ends, from now on: 45m, 12h, 30d." },
  expiresAt: { type: "text", value: "INSTANT", summary: "The same as an instant: 2030-01-31T12:00:00Z." },
  tenant,
} as const satisfies Flags;

export const keyCreate = command({
  name: "key create",
  summary: "Make an API key; it is shown once.",
  about,
  args: [],
  flags: KEY_CREATE_FLAGS,
  settings: [...CLIENT, ...DATABASE],
  examples: [
    "assay key create --principal ci --kind agent --roles reviewer --expires-in 90d",
    "assay key create --principal me --roles owner --data .assay",
  ],
  load: async () => (await import("./key-create.ts")).keyCreate,
});

export const KEY_LIST_FLAGS = { tenant } as const satisfies Flags;

export const keyList = command({
  name: "key list",
  summary: "List API keys, without the keys themselves.",
  about,
  args: [],
  flags: KEY_LIST_FLAGS,
  settings: [...CLIENT, ...DATABASE],
  examples: ["assay key list", "assay key list --data .assay"],
  load: async () => (await import("./key-list.ts")).keyList,
});

export const KEY_REVOKE_FLAGS = { tenant } as const satisfies Flags;

export const keyRevoke = command({
  name: "key revoke",
  summary: "End API keys now.",
  about,
  args: [{ name: "KEY_ID", summary: "The id of a key (key-…), as `key list` prints it; not the key.", many: true }],
  flags: KEY_REVOKE_FLAGS,
  settings: [...CLIENT, ...DATABASE],
  examples: ["assay key revoke key-01k4…"],
  load: async () => (await import("./key-revoke.ts")).keyRevoke,
});

export const whoami = command({
  name: "whoami",
  summary: "Show who your API key speaks for, and what it may do.",
  args: [],
  flags: {},
  settings: CLIENT,
  examples: ["assay whoami"],
  load: async () => (await import("./whoami.ts")).whoami,
});

export const KEY_COMMANDS: readonly AnyCommand[] = [keyCreate, keyList, keyRevoke, whoami];
