import type { WrittenReviewer } from "../reviews/written-reviewer.ts";
import { AGENT_SETTINGS } from "./agent-settings.ts";
import { AUDIT_SETTINGS } from "./audit-settings.ts";
import { GATE_SETTINGS } from "./gate-settings.ts";
import { JUDGMENT_SETTINGS } from "./judgment-settings.ts";
import { LIMIT_SETTINGS } from "./limit-settings.ts";
import { REVIEW_ASK_SETTINGS } from "./review-ask-settings.ts";
import { REVIEWER_SETTINGS } from "./reviewer-settings.ts";
import { count, DAY_MS, ms, seconds } from "./setting-units.ts";
import { WEBHOOK_SETTINGS } from "./webhook-settings.ts";

/**
 * Every setting, once. `--help`, `docs/configuration.md` and `config.ts` read these rows; a test compares them.
 *
 * The other names of a setting follow from its own: `maxStreams` is `--max-streams`, `ASSAY_MAX_STREAMS` in the
 * environment and `"maxStreams"` in `assay.config.json`.
 */
export type Setting =
  | (Row & { readonly type: "integer"; readonly default: number; readonly min: number; readonly max: number })
  | (Row & { readonly type: "flag"; readonly default: false })
  /** On unless `--no-…`; `off` says what that does. */
  | (Row & { readonly type: "flag"; readonly default: true; readonly off: string })
  | (Row & { readonly type: "text"; readonly default?: string; readonly secret?: true })
  | (Row & { readonly type: "choice"; readonly default: string; readonly choices: readonly string[] })
  | (Row & { readonly type: "names"; readonly default: readonly string[]; readonly choices: readonly string[] })
  /** Taken relative to where it was written: the folder of the config file, else the working directory. */
  | (Row & { readonly type: "path"; readonly default?: string })
  | (Row & { readonly type: "paths"; readonly default: readonly string[] })
  /** See `written-reviewer.ts`; programs in it are found as paths are. */
  | (Row & { readonly type: "reviewers"; readonly default: readonly string[] });

interface Row {
  readonly group: SettingGroup;
  /** One sentence. */
  readonly summary: string;
  /** What the value is called in help texts. */
  readonly value?: string;
  readonly unit?: "milliseconds" | "seconds" | "bytes" | "per second";
}

export const SETTING_GROUPS = [
  "Server",
  "Storage",
  "Work",
  "Agents",
  "Gates",
  "Webhooks",
  "Reviews",
  "Limits",
  "Audit",
  "Client",
] as const;
export type SettingGroup = (typeof SETTING_GROUPS)[number];

export const SETTINGS = {
  host: {
    group: "Server",
    type: "text",
    default: "127.0.0.1",
    value: "ADDRESS",
    summary: "The address to listen on; anything but loopback belongs behind a proxy that speaks TLS.",
  },
  port: {
    group: "Server",
    type: "integer",
    default: 4100,
    min: 0,
    max: 65_535,
    value: "PORT",
    summary: "The port to listen on; 0 takes a free one, which the ready line names.",
  },
  console: {
    group: "Server",
    type: "flag",
    default: true,
    summary: "Serve the web console.",
    off: "Serve no web console.",
  },
  disable: {
    group: "Server",
    type: "names",
    default: [],
    choices: [
      ...["pauseResume", "feedback", "auditLogIntegrity", "webhooks", "replay", "diff", "debugBundle", "reviews"],
      ...["agents", "evalSuite", "deployment", "orchestrator", "modelCapabilities", "secrets"],
    ],
    value: "LIST",
    summary: "Capabilities to switch off; they leave discovery and their routes answer as the protocol says.",
  },
  conformanceSeams: {
    group: "Server",
    type: "flag",
    default: false,
    summary: "Serve the routes of the conformance suite; never in production.",
  },
  canarySecret: {
    group: "Server",
    type: "text",
    secret: true,
    value: "TEXT",
    summary:
      "What `conformance.secret.echo` finds; only with the conformance seams, and rather set in the environment.",
  },
  logLevel: {
    group: "Server",
    type: "choice",
    default: "info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    value: "LEVEL",
    summary: "The least important log line still written to stderr.",
  },
  shutdownGraceMs: {
    ...ms,
    group: "Server",
    default: 10_000,
    min: 0,
    summary: "How long a stopping process lets requests, streams and nodes finish.",
  },

  data: {
    group: "Storage",
    type: "path",
    default: ".assay",
    value: "DIR",
    summary: "The folder of the SQLite database, made when it is missing; unused with a database URL.",
  },
  databaseUrl: {
    group: "Storage",
    type: "text",
    secret: true,
    value: "URL",
    summary: "A PostgreSQL in place of SQLite: postgres://user:password@host/database; rather set in the environment.",
  },
  workflows: {
    group: "Storage",
    type: "paths",
    default: [],
    value: "DIR",
    summary: "Folders whose *.json files are registered as workflows for every tenant at start.",
  },
  suites: {
    group: "Storage",
    type: "paths",
    default: [],
    value: "DIR",
    summary: "Folders whose *.json files are kept as eval suites for every tenant at start.",
  },
  strict: {
    group: "Storage",
    type: "flag",
    default: false,
    summary: "Do not start when a workflow, suite or pack cannot be registered, instead of skipping it.",
  },
  keys: {
    group: "Storage",
    type: "path",
    value: "FILE",
    summary: "A JSON file of API keys that exist after every start; without it the first start makes an owner key.",
  },

  worker: {
    group: "Work",
    type: "flag",
    default: true,
    summary: "Execute runs in this process.",
    off: "Execute no runs; `assay worker` processes on the same PostgreSQL do.",
  },
  workerConcurrency: {
    ...count,
    group: "Work",
    default: 256,
    max: 100_000,
    summary: "Runs executed at the same time.",
  },
  leaseMs: {
    ...ms,
    group: "Work",
    default: 10_000,
    min: 100,
    summary: "How long a run belongs to a worker that is not heard of; then another takes over.",
  },
  leaseRenewMs: {
    ...ms,
    group: "Work",
    default: 3000,
    min: 10,
    summary: "How often a worker renews its leases; less than half of leaseMs.",
  },
  sweepMs: {
    ...ms,
    group: "Work",
    default: 500,
    min: 10,
    summary: "How often the queue is looked at even when nothing says that there is work.",
  },
  maxNodeExecutions: {
    ...count,
    group: "Work",
    default: 1000,
    summary: "Nodes a run may execute at most; a run may ask for less with configurable.recursionLimit.",
  },
  maxRunDurationMs: {
    type: "integer",
    unit: "milliseconds",
    value: "MS",
    group: "Work",
    default: 30 * DAY_MS,
    min: 1,
    max: 365 * DAY_MS,
    summary: "How long a run may last at most; a run may ask for less with configurable.runTimeoutMs.",
  },
  idempotencyRetentionSeconds: {
    ...seconds,
    group: "Work",
    default: 86_400,
    summary: "How long the answer to a request with an Idempotency-Key is kept for its repetitions.",
  },
  effectRetentionSeconds: {
    ...seconds,
    group: "Work",
    default: 1_209_600,
    summary: "How long the record of an external effect is kept, so that it never happens twice.",
  },

  ...AGENT_SETTINGS,
  ...GATE_SETTINGS,
  ...WEBHOOK_SETTINGS,
  ...JUDGMENT_SETTINGS,
  ...REVIEW_ASK_SETTINGS,
  ...REVIEWER_SETTINGS,
  ...LIMIT_SETTINGS,

  ...AUDIT_SETTINGS,
  url: {
    group: "Client",
    type: "text",
    default: "http://127.0.0.1:4100",
    value: "URL",
    summary: "The server that client commands talk to.",
  },
  key: {
    group: "Client",
    type: "text",
    secret: true,
    value: "KEY",
    summary: "The API key of client commands; rather set in the environment, since others can see command lines.",
  },
  timeoutMs: {
    ...ms,
    group: "Client",
    default: 30_000,
    min: 1,
    summary: "How long a client command waits for an answer.",
  },
  author: {
    group: "Client",
    type: "text",
    value: "ID",
    summary: "Who annotates tapes: the author that `tape annotate` writes down; without it none is named.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

type Value<S> = S extends { type: "integer" }
  ? number
  : S extends { type: "flag" }
    ? boolean
    : S extends { type: "names" | "paths" }
      ? readonly string[]
      : S extends { type: "reviewers" }
        ? readonly WrittenReviewer[]
        : S extends { type: "choice"; choices: readonly (infer C)[] }
          ? C
          : S extends { default: string }
            ? string
            : string | undefined;

/** Every setting with its value. */
export type Config = { readonly [K in SettingName]: Value<(typeof SETTINGS)[K]> };

export function settingNamed(name: SettingName): Setting {
  return SETTINGS[name];
}

/** `--max-streams`; what is on by default is switched off with `--no-…`. */
export function flagOf(name: SettingName): string {
  const setting = settingNamed(name);
  const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return setting.type === "flag" && setting.default ? `--no-${kebab}` : `--${kebab}`;
}

export function environmentNameOf(name: SettingName): string {
  return `ASSAY_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** The default as a reader wants it: with its unit, and with a word where there is none. */
export function defaultText(setting: Setting): string {
  if (setting.default === undefined) return "none";
  if (Array.isArray(setting.default)) return setting.default.length === 0 ? "none" : setting.default.join(",");
  if (setting.type === "flag") return setting.default ? "on" : "off";
  return setting.unit === undefined ? String(setting.default) : `${setting.default} ${setting.unit}`;
}
