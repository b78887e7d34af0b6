import { type AnyCommand, command, DATABASE, type Flags } from "../program/command.ts";

export const MIGRATE_FLAGS = {
  check: { type: "switch", summary: "Only say whether there is something to do." },
} as const satisfies Flags;

export const migrate = command({
  name: "migrate",
  summary: "Bring the database to the schema of this version.",
  about:
    "`serve` does this at its start. As a step of its own it serves deployments with many hosts on one PostgreSQL.",
  args: [],
  flags: MIGRATE_FLAGS,
  settings: DATABASE,
  examples: ["assay migrate --database-url postgres://assay@db/assay", "assay migrate --check"],
  exits: { 1: "with --check: the schema is older than this version" },
  load: async () => (await import("./migrate.ts")).migrate,
});

export const BACKUP_FLAGS = {
  force: { type: "switch", summary: "Replace the file when it exists." },
} as const satisfies Flags;

export const backup = command({
  name: "backup",
  summary: "Write a copy of everything to one file, while the server goes on.",
  about:
    "The copy is of one moment, and the same for SQLite and PostgreSQL: either can be restored into the other. It " +
    "holds the host's secrets, so it is readable by you alone.",
  args: [{ name: "FILE", summary: "The file to write; compressed when its name ends in .gz." }],
  flags: BACKUP_FLAGS,
  settings: DATABASE,
  examples: ["assay backup assay-backup.jsonl.gz", "assay backup full.jsonl --database-url postgres://assay@db/assay"],
  load: async () => (await import("./backup.ts")).backup,
});

export const restore = command({
  name: "restore",
  summary: "Fill an empty database from a backup.",
  about: "All of it or nothing. A file that is truncated or was altered is refused, and so is a database with content.",
  args: [{ name: "FILE", summary: "A file made by `backup`." }],
  flags: {},
  settings: DATABASE,
  examples: ["assay restore assay-backup.jsonl.gz --data .assay-restored"],
  load: async () => (await import("./restore.ts")).restore,
});

export const OPENAPI_FLAGS = {
  asyncapi: { type: "switch", summary: "The event streams as an AsyncAPI document instead." },
} as const satisfies Flags;

export const openapi = command({
  name: "openapi",
  summary: "Print the API as an OpenAPI document.",
  args: [],
  flags: OPENAPI_FLAGS,
  settings: [],
  examples: ["assay openapi > openapi.json", "assay openapi --asyncapi"],
  load: async () => (await import("./openapi.ts")).openapi,
});

export const schema = command({
  name: "schema",
  summary: "Print a JSON Schema, or list those there are.",
  about: "The same as a server gives at /v1/schemas; docs/schemas has them as files.",
  args: [{ name: "NAME", summary: "Which one; a list without it.", optional: true }],
  flags: {},
  settings: [],
  examples: ["assay schema", "assay schema annotation > annotation.schema.json"],
  load: async () => (await import("./schema.ts")).schema,
});

export const DATABASE_COMMANDS: readonly AnyCommand[] = [migrate, backup, restore];
