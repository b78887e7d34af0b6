import { type AnyCommand, command, DATABASE, toggle } from "../program/command.ts";
import { SETTING_NAMES, settingNamed } from "../settings/settings.ts";

export const MIGRATE_FLAGS = {
  check: toggle("Report whether a migration is needed, and change nothing."),
};

export const BACKUP_FLAGS = {
  force: toggle("Replace the file when it exists."),
};

export const OPENAPI_FLAGS = {
  asyncapi: toggle("Print the event streams as an AsyncAPI document instead."),
};

export const SERVE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "serve",
    summary: "Run the host, a worker and the console in one process.",
    about:
      "Prints one line when it is ready: the address and, on a first start without --keys, an owner key that is shown " +
      "only then. Stop it with SIGTERM or ctrl-c; running work is finished, and a second signal ends it at once.",
    settings: SETTING_NAMES.filter((name) => settingNamed(name).group !== "Client"),
    examples: [
      "assay serve",
      "assay serve --workflows ./workflows --keys keys.json",
      "assay serve --database-url postgres://assay@db/assay --host 0.0.0.0 --no-worker",
    ],
    load: async () => (await import("./serve.ts")).serve,
  }),
  command({
    name: "demo",
    summary: "Run a host with sample workflows, runs, judgments, open gates, an agent and an evaluation.",
    about: "The data is in a temporary folder, which is deleted at the end.",
    settings: ["host", "port", "console", "logLevel", "shutdownGraceMs"],
    examples: ["assay demo", "assay demo --port 4200"],
    load: async () => (await import("./demo.ts")).demo,
  }),
  command({
    name: "worker",
    summary: "Run a worker without a server, for hosts that share its PostgreSQL.",
    settings: [
      "databaseUrl",
      "agents",
      "toolsUrl",
      "toolsPort",
      "evalCacheSeconds",
      "workerConcurrency",
      "leaseMs",
      "leaseRenewMs",
      "sweepMs",
      "effectRetentionSeconds",
      "tokenKeys",
      "tokenTtl",
      "gateTimeout",
      "eventRetention",
      "publicUrl",
      "allowPrivateWebhooks",
      "webhookTimeoutMs",
      "webhookAttempts",
      "webhookRetryMs",
      "webhookRetryMaxMs",
      "otlpEndpoint",
      "otlpHeaders",
      "otlpContent",
      "logLevel",
      "shutdownGraceMs",
    ],
    examples: ["assay worker --database-url postgres://assay@db/assay --worker-concurrency 64"],
    load: async () => (await import("./worker.ts")).worker,
  }),
];

export const MAINTENANCE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "migrate",
    summary: "Migrate the database to the schema of this version.",
    about: "`serve` migrates at its start. A separate step is for deployments with many hosts on one PostgreSQL.",
    flags: MIGRATE_FLAGS,
    settings: DATABASE,
    examples: ["assay migrate --database-url postgres://assay@db/assay", "assay migrate --check"],
    exits: { 1: "with --check: the schema is older than this version" },
    load: async () => (await import("./maintain.ts")).migrate,
  }),
  command({
    name: "backup",
    summary: "Write a copy of the database to one file, also while a server runs.",
    about:
      "The copy is of one moment, and the same for SQLite and PostgreSQL: either can be restored into the other. It " +
      "contains the host's secrets, so only its owner can read it.",
    args: [{ name: "FILE", summary: "The file to write; compressed when its name ends in .gz." }],
    flags: BACKUP_FLAGS,
    settings: DATABASE,
    examples: [
      "assay backup assay-backup.jsonl.gz",
      "assay backup full.jsonl --database-url postgres://assay@db/assay",
    ],
    load: async () => (await import("./maintain.ts")).backup,
  }),
  command({
    name: "restore",
    summary: "Fill an empty database from a backup.",
    about:
      "Restores everything or nothing. A file that is truncated or altered is refused, and so is a database with content.",
    args: [{ name: "FILE", summary: "A file made by `backup`." }],
    settings: DATABASE,
    examples: ["assay restore assay-backup.jsonl.gz --data .assay-restored"],
    load: async () => (await import("./maintain.ts")).restore,
  }),
  command({
    name: "openapi",
    summary: "Print the API as an OpenAPI document.",
    flags: OPENAPI_FLAGS,
    settings: [],
    examples: ["assay openapi > openapi.json", "assay openapi --asyncapi"],
    load: async () => (await import("./documents.ts")).openapi,
  }),
  command({
    name: "schema",
    summary: "Print a JSON Schema, or list their names.",
    about: "The schemas that a server serves at /v1/schemas; docs/schemas has them as files.",
    args: [{ name: "NAME", summary: "The name of a schema; all are listed without it.", optional: true }],
    settings: [],
    examples: ["assay schema", "assay schema annotation > annotation.schema.json"],
    load: async () => (await import("./documents.ts")).schema,
  }),
];
