import { type AnyCommand, command } from "../program/command.ts";
import { SETTING_NAMES, settingNamed } from "../settings/settings.ts";

export const serve = command({
  name: "serve",
  summary: "Run the host, a worker and the console in one process.",
  about:
    "Prints one line when it is ready: the address and, on a first start without --keys, an owner key that is shown " +
    "only then. Stop it with SIGTERM or ctrl-c; it finishes what it holds, and a second signal ends it at once.",
  args: [],
  flags: {},
  settings: SETTING_NAMES.filter((name) => settingNamed(name).group !== "Client"),
  examples: [
    "assay serve",
    "assay serve --workflows ./workflows --keys keys.json",
    "assay serve --database-url postgres://assay@db/assay --host 0.0.0.0 --no-worker",
  ],
  load: async () => (await import("./serve.ts")).serve,
});

export const demo = command({
  name: "demo",
  summary: "Run a host with sample workflows, runs, judgments, open gates, an agent and an evaluation.",
  about: "Everything is in a temporary folder, which is removed when it ends.",
  args: [],
  flags: {},
  settings: ["host", "port", "console", "logLevel", "shutdownGraceMs"],
  examples: ["assay demo", "assay demo --port 4200"],
  load: async () => (await import("./demo.ts")).demo,
});

export const worker = command({
  name: "worker",
  summary: "Run a worker only, beside hosts that share its PostgreSQL.",
  args: [],
  flags: {},
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
});

export const SERVE_COMMANDS: readonly AnyCommand[] = [serve, demo, worker];
