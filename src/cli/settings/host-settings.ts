import { CAPABILITIES } from "../../protocol/operation.ts";
import { bytes, count, DAY_MS, folders, inGroup, ms, off, port, seconds, url } from "./setting.ts";

/** How a process runs: rows of the table in `settings.ts`. */
export const SERVER_SETTINGS = inGroup("Server", {
  host: {
    type: "text",
    default: "127.0.0.1",
    value: "ADDRESS",
    summary: "The address to listen on; anything but loopback belongs behind a proxy that speaks TLS.",
  },
  port: { ...port, default: 4100, summary: "The port to listen on; 0 takes a free one, which the ready line names." },
  console: { type: "flag", default: true, summary: "Serve the web console.", off: "Serve no web console." },
  disable: {
    type: "names",
    default: [],
    choices: CAPABILITIES.filter((name) => name !== "conformanceSeams"),
    value: "LIST",
    summary: "Capabilities to switch off; they leave discovery and their routes answer as the protocol says.",
  },
  conformanceSeams: { ...off, summary: "Serve the routes of the conformance suite; never in production." },
  canarySecret: {
    type: "text",
    secret: true,
    value: "TEXT",
    summary:
      "The secret that `conformance.secret.echo` finds; only with --conformance-seams, and rather set in the environment.",
  },
  logLevel: {
    type: "choice",
    default: "info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    value: "LEVEL",
    summary: "The least important log line still written to stderr.",
  },
  shutdownGraceMs: {
    ...ms,
    default: 10_000,
    summary: "How long a stopping process lets requests, streams and nodes finish.",
  },
  otlpEndpoint: {
    ...url,
    summary: "Where judgments are exported to over OTLP/HTTP, such as http://127.0.0.1:4318; without it none are.",
  },
  otlpHeaders: {
    type: "text",
    secret: true,
    value: "LIST",
    summary: "Headers of the export as NAME=VALUE,…, values percent-encoded; rather set in the environment.",
  },
  otlpContent: {
    ...off,
    summary: "Export what people wrote too: notes, corrections and labels; otherwise ratings and kinds alone.",
  },
});

export const STORAGE_SETTINGS = inGroup("Storage", {
  data: {
    type: "path",
    default: ".assay",
    value: "DIR",
    summary: "The folder of the SQLite database, made when it is missing; unused with a database URL.",
  },
  databaseUrl: {
    ...url,
    secret: true,
    summary: "A PostgreSQL in place of SQLite: postgres://user:password@host/database; rather set in the environment.",
  },
  workflows: {
    ...folders,
    summary: "Folders whose *.json files are registered as workflows for every tenant at start.",
  },
  suites: { ...folders, summary: "Folders whose *.json files are kept as eval suites for every tenant at start." },
  strict: {
    ...off,
    summary: "Do not start when a workflow, suite or pack cannot be registered, instead of skipping it.",
  },
  keys: {
    type: "path",
    value: "FILE",
    summary: "A JSON file of API keys that exist after every start; without it the first start makes an owner key.",
  },
  runRetentionDays: {
    ...count,
    default: 0,
    min: 0,
    max: 36_500,
    value: "DAYS",
    summary:
      "How many days a run is kept after its end, unless its workflow has a setting of its own (settings.retentionDays); 0 is for ever.",
  },
  retentionSweepSeconds: {
    ...seconds,
    default: 3600,
    max: 604_800,
    summary: "How often runs whose retention is over are looked for.",
  },
});

export const WORK_SETTINGS = inGroup("Work", {
  worker: {
    type: "flag",
    default: true,
    summary: "Execute runs in this process.",
    off: "Execute no runs; `assay worker` processes on the same PostgreSQL do.",
  },
  workerConcurrency: { ...count, default: 256, max: 100_000, summary: "Runs executed at the same time." },
  leaseMs: {
    ...ms,
    default: 10_000,
    min: 100,
    summary: "How long a run belongs to a worker that does not renew its lease; then another takes over.",
  },
  leaseRenewMs: {
    ...ms,
    default: 3000,
    min: 10,
    summary: "How often a worker renews its leases; less than half of leaseMs.",
  },
  sweepMs: {
    ...ms,
    default: 500,
    min: 10,
    summary: "How often the queue is read even when no notification says that there is work.",
  },
  maxNodeExecutions: {
    ...count,
    default: 1000,
    summary: "Nodes a run may execute at most; a run may ask for less with configurable.recursionLimit.",
  },
  maxRunDurationMs: {
    ...ms,
    default: 30 * DAY_MS,
    min: 1,
    max: 365 * DAY_MS,
    summary: "How long a run may last at most; a run may ask for less with configurable.runTimeoutMs.",
  },
  idempotencyRetentionSeconds: {
    ...seconds,
    default: 86_400,
    summary: "How long the answer to a request with an Idempotency-Key is kept for its repetitions.",
  },
  effectRetentionSeconds: {
    ...seconds,
    default: 1_209_600,
    summary: "How long the record of an external effect is kept, so that it never happens twice.",
  },
  queueFillSeconds: {
    ...seconds,
    default: 30,
    max: 86_400,
    summary: "How often review queues are filled that are not read; a queue that is read is filled then.",
  },
});

export const LIMIT_SETTINGS = inGroup("Limits", {
  rateLimit: {
    ...count,
    default: 0,
    min: 0,
    max: 1_000_000,
    unit: "per second",
    summary: "Requests a key may make; 0 is no limit.",
  },
  maxConnections: { ...count, default: 10_000, summary: "Open connections; more are refused." },
  maxStreams: {
    ...count,
    default: 4096,
    summary: "Event streams followed at the same time; one tenant has three quarters of them at most.",
  },
  maxRequestBodyBytes: { ...bytes, default: 1_048_576, summary: "The largest request body." },
  maxTapeBytes: {
    ...bytes,
    default: 67_108_864,
    max: 268_435_456,
    summary: "The largest request that brings a tape, a sidecar or a body of one; a sixteenth of the heap at most.",
  },
  maxPackBytes: {
    ...bytes,
    default: 16_777_216,
    max: 67_108_864,
    summary: "The largest request that brings a pack of agents.",
  },
  maxReviewBytes: {
    ...bytes,
    default: 16_777_216,
    max: 16_777_216,
    summary: "The largest request for a review; the protocol has no larger ones.",
  },
  bundleMaxBytes: {
    ...bytes,
    default: 8_388_608,
    min: 65_536,
    max: 268_435_456,
    summary: "The largest debug bundle; parts without room in it are left out, beginning with the last events.",
  },
  maxActiveRuns: {
    ...count,
    default: 100_000,
    max: 100_000_000,
    summary: "Runs that have not ended, for each tenant; more are refused with tenant_run_limit.",
  },
  maxDescendants: {
    ...count,
    default: 1000,
    max: 10_000_000,
    summary: "Runs started below one root run, detached ones included; more fail with descendant_limit.",
  },
  maxKeys: {
    ...count,
    default: 10_000,
    max: 10_000_000,
    summary:
      "API keys that work, for each tenant; more are refused with tenant_key_limit. Keys of a --keys file count and are not refused.",
  },
  maxJsonDepth: { ...count, default: 64, max: 1000, summary: "How deep JSON in a request may nest." },
  maxJsonElements: {
    ...count,
    default: 100_000,
    max: 10_000_000,
    summary: "How many values and members JSON in a request may have.",
  },
  maxRunBytes: {
    ...bytes,
    default: 0,
    min: 0,
    summary:
      "The largest run: its JSON, 64 bytes more for each member name, and 24 for each object, list and text; a run that grows larger fails with run_too_large. 0: 16 MB, or a sixteenth of the heap if that is less.",
  },
  maxBytesInHand: {
    ...bytes,
    default: 0,
    min: 0,
    max: 2 ** 36,
    summary:
      "The memory that large runs in hand and large reads may hold together; runs and requests beyond it wait. 0: a quarter of the heap.",
  },
  maxHeaderBytes: { ...bytes, default: 16_384, max: 1_048_576, summary: "The largest request head." },
  headersTimeoutMs: {
    ...ms,
    default: 15_000,
    min: 100,
    summary: "How long a client may take to send the head of a request.",
  },
  requestTimeoutMs: { ...ms, default: 30_000, min: 100, summary: "How long a client may take to send a request." },
  idleConnectionMs: {
    ...ms,
    default: 72_000,
    min: 100,
    summary: "How long an idle connection is kept for its next request; longer than proxies usually keep theirs.",
  },
  keepAliveMs: {
    ...ms,
    default: 15_000,
    min: 100,
    max: 30_000,
    summary: "How often a silent event stream carries a comment, so that proxies and clients keep it open.",
  },
  streamBufferBytes: {
    ...bytes,
    default: 1_048_576,
    summary: "The bytes that may wait in memory for a slow reader of an event stream; the rest is read from the store.",
  },
  streamStallMs: {
    ...ms,
    default: 60_000,
    min: 100,
    summary: "How long a reader of an event stream may take nothing before it is disconnected.",
  },
  keyCacheMs: {
    ...ms,
    default: 1000,
    summary: "How long the cached state of an API key is used when the notice of a change got lost.",
  },
});

export const AUDIT_SETTINGS = inGroup("Audit", {
  auditKey: {
    type: "path",
    value: "FILE",
    summary: "The Ed25519 private key (PEM) that signs audit checkpoints; without it one is kept in the database.",
  },
  auditAnchor: {
    type: "path",
    value: "DIR",
    summary:
      "The folder that remembers the last signed audit entry of each tenant, so that nothing behind it is signed; " +
      "with --audit-key, that file's name and .anchors unless set.",
  },
  auditCheckpointEntries: {
    ...count,
    default: 1000,
    max: 100_000,
    summary: "Audit entries after which a checkpoint is signed.",
  },
  auditCheckpointSeconds: {
    ...seconds,
    default: 300,
    max: 86_400,
    summary: "Time after which new audit entries are covered by a checkpoint in any case.",
  },
  auditRootUrl: {
    ...url,
    summary:
      "Where each signed root of an audit log is sent, so that a copy is kept elsewhere; needs --audit-root-secret.",
  },
  auditRootSecret: {
    type: "text",
    secret: true,
    value: "SECRET",
    summary:
      "The secret that signs messages to --audit-root-url, 16 characters or more; rather set in the environment.",
  },
});
