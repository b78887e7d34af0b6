import { type AnyCommand, command, type Flags } from "../command.ts";
import { CLIENT, DATABASE } from "./shared.ts";

const about =
  "Talks to a server, unless --data or --database-url is given: then it opens the database itself, which is the way " +
  "back in when the owner key is lost. A SQLite database must not be in use then.";

const tenant = {
  type: "text",
  value: "ID",
  summary: "The tenant, when the database is opened directly; else it is the tenant of your key.",
} as const;

export const KEY_CREATE_FLAGS = {
  principal: { type: "text", value: "ID", summary: "Who the key speaks for. Required." },
  role: { type: "list", value: "ROLE", summary: "owner, admin, reviewer, viewer, or a role of the workspace." },
  scope: { type: "list", value: "SCOPE", summary: "What the key may do at most; everything unless given." },
  kind: { type: "text", value: "KIND", choices: ["user", "agent"], summary: "user (the default) or agent." },
  workspace: { type: "text", value: "ID", summary: "Bind the key to one workspace." },
  label: { type: "text", value: "TEXT", summary: "A note to recognise the key by." },
  expires: { type: "text", value: "WHEN", summary: "An ISO 8601 instant, or a time from now such as 12h or 30d." },
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
    "assay key create --principal ci --kind agent --role reviewer --expires 90d",
    "assay key create --principal me --role owner --data .assay",
  ],
  load: async () => (await import("../commands/key-create.ts")).keyCreate,
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
  load: async () => (await import("../commands/key-list.ts")).keyList,
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
  load: async () => (await import("../commands/key-revoke.ts")).keyRevoke,
});

export const whoami = command({
  name: "whoami",
  summary: "Show who your API key speaks for, and what it may do.",
  args: [],
  flags: {},
  settings: CLIENT,
  examples: ["assay whoami"],
  load: async () => (await import("../commands/whoami.ts")).whoami,
});

export const KEY_COMMANDS: readonly AnyCommand[] = [keyCreate, keyList, keyRevoke, whoami];
