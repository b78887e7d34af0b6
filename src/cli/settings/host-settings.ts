import { CAPABILITIES } from "../../protocol/operation.ts";
import { bytes, count, DAY_MS, folders, inGroup, ms, off, path, port, seconds, secret, text, url } from "./setting.ts";

/** How a process runs: rows of the table in `settings.ts`. */
export const SERVER_SETTINGS = inGroup("Server", {
  host: {
    ...text("ADDRESS", "The address to listen on; anything but loopback belongs behind a proxy that speaks TLS."),
    default: "127.0.0.1",
  },
  port: port(4100, "The port to listen on; 0 takes a free one, which the ready line names."),
  console: { type: "flag", default: true, summary: "Serve the web console.", off: "Serve no web console." },
  disable: {
    type: "names",
    default: [],
    choices: CAPABILITIES.filter((name) => name !== "conformanceSeams"),
    value: "LIST",
    summary: "Capabilities to switch off; they leave discovery and their routes answer as the protocol says.",
  },
  conformanceSeams: off("Serve the routes of the conformance suite; never in production."),
  canarySecret: secret(
    "TEXT",
    "The secret that `conformance.secret.echo` finds; only with --conformance-seams, and rather set in the environment.",
  ),
  logLevel: {
    type: "choice",
    default: "info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    value: "LEVEL",
    summary: "The least important log line still written to stderr.",
  },
  shutdownGraceMs: ms(10_000, "How long a stopping process lets requests, streams and nodes finish."),
  otlpEndpoint: url(
    "Where judgments are exported to over OTLP/HTTP, such as http://127.0.0.1:4318; without it none are.",
  ),
  otlpHeaders: secret(
    "LIST",
    "Headers of the export as NAME=VALUE,…, values percent-encoded; rather set in the environment.",
  ),
  otlpContent: off("Export what people wrote too: notes, corrections and labels; otherwise ratings and kinds alone."),
});

export const STORAGE_SETTINGS = inGroup("Storage", {
  data: {
    ...path("DIR", "The folder of the SQLite database, made when it is missing; unused with a database URL."),
    default: ".assay",
  },
  databaseUrl: {
    ...url("A PostgreSQL in place of SQLite: postgres://user:password@host/database; rather set in the environment."),
    secret: true,
  },
  workflows: folders("Folders whose *.json files are registered as workflows for every tenant at start."),
  suites: folders("Folders whose *.json files are kept as eval suites for every tenant at start."),
  strict: off("Do not start when a workflow, suite or pack cannot be registered, instead of skipping it."),
  keys: path(
    "FILE",
    "A JSON file of API keys that exist after every start; without it the first start makes an owner key.",
  ),
  runRetentionDays: count(
    0,
    "How many days a run is kept after its end, unless its workflow has a setting of its own (settings.retentionDays); 0 is for ever.",
    { min: 0, max: 36_500, value: "DAYS" },
  ),
  retentionSweepSeconds: seconds(3600, "How often runs whose retention is over are looked for.", { max: 604_800 }),
});

export const WORK_SETTINGS = inGroup("Work", {
  worker: {
    type: "flag",
    default: true,
    summary: "Execute runs in this process.",
    off: "Execute no runs; `assay worker` processes on the same PostgreSQL do.",
  },
  workerConcurrency: count(256, "Runs executed at the same time.", { max: 100_000 }),
  leaseMs: ms(10_000, "How long a run belongs to a worker that does not renew its lease; then another takes over.", {
    min: 100,
  }),
  leaseRenewMs: ms(3000, "How often a worker renews its leases; less than half of leaseMs.", { min: 10 }),
  sweepMs: ms(500, "How often the queue is read even when no notification says that there is work.", { min: 10 }),
  maxNodeExecutions: count(
    1000,
    "Nodes a run may execute at most; a run may ask for less with configurable.recursionLimit.",
  ),
  maxRunDurationMs: ms(
    30 * DAY_MS,
    "How long a run may last at most; a run may ask for less with configurable.runTimeoutMs.",
    { min: 1, max: 365 * DAY_MS },
  ),
  idempotencyRetentionSeconds: seconds(
    86_400,
    "How long the answer to a request with an Idempotency-Key is kept for its repetitions.",
  ),
  effectRetentionSeconds: seconds(
    1_209_600,
    "How long the record of an external effect is kept, so that it never happens twice.",
  ),
  queueFillSeconds: seconds(
    30,
    "How often review queues are filled that are not read; a queue that is read is filled then.",
    { max: 86_400 },
  ),
});

export const LIMIT_SETTINGS = inGroup("Limits", {
  rateLimit: count(0, "Requests a key may make; 0 is no limit.", { min: 0, max: 1_000_000, unit: "per second" }),
  maxConnections: count(10_000, "Open connections; more are refused."),
  maxStreams: count(4096, "Event streams followed at the same time; one tenant has three quarters of them at most."),
  maxRequestBodyBytes: bytes(1_048_576, "The largest request body."),
  maxTapeBytes: bytes(
    67_108_864,
    "The largest request that brings a tape, a sidecar or a body of one; a sixteenth of the heap at most.",
    { max: 268_435_456 },
  ),
  maxPackBytes: bytes(16_777_216, "The largest request that brings a pack of agents.", { max: 67_108_864 }),
  maxReviewBytes: bytes(16_777_216, "The largest request for a review; the protocol has no larger ones.", {
    max: 16_777_216,
  }),
  bundleMaxBytes: bytes(
    8_388_608,
    "The largest debug bundle; parts without room in it are left out, beginning with the last events.",
    { min: 65_536, max: 268_435_456 },
  ),
  maxActiveRuns: count(100_000, "Runs that have not ended, for each tenant; more are refused with tenant_run_limit.", {
    max: 100_000_000,
  }),
  maxDescendants: count(
    1000,
    "Runs started below one root run, detached ones included; more fail with descendant_limit.",
    { max: 10_000_000 },
  ),
  maxKeys: count(
    10_000,
    "API keys that work, for each tenant; more are refused with tenant_key_limit. Keys of a --keys file count and are not refused.",
    { max: 10_000_000 },
  ),
  maxJsonDepth: count(64, "How deep JSON in a request may nest.", { max: 1000 }),
  maxJsonElements: count(100_000, "How many values and members JSON in a request may have.", { max: 10_000_000 }),
  maxRunBytes: bytes(
    0,
    "The largest run: its JSON, 64 bytes more for each member name, and 24 for each object, list and text; a run that grows larger fails with run_too_large. 0: 16 MB, or a sixteenth of the heap if that is less.",
    { min: 0 },
  ),
  maxBytesInHand: bytes(
    0,
    "The memory that large runs in hand and large reads may hold together; runs and requests beyond it wait. 0: a quarter of the heap.",
    { min: 0, max: 2 ** 36 },
  ),
  maxHeaderBytes: bytes(16_384, "The largest request head.", { max: 1_048_576 }),
  headersTimeoutMs: ms(15_000, "How long a client may take to send the head of a request.", { min: 100 }),
  requestTimeoutMs: ms(30_000, "How long a client may take to send a request.", { min: 100 }),
  idleConnectionMs: ms(
    72_000,
    "How long an idle connection is kept for its next request; longer than proxies usually keep theirs.",
    { min: 100 },
  ),
  keepAliveMs: ms(
    15_000,
    "How often a silent event stream carries a comment, so that proxies and clients keep it open.",
    { min: 100, max: 30_000 },
  ),
  streamBufferBytes: bytes(
    1_048_576,
    "The bytes that may wait in memory for a slow reader of an event stream; the rest is read from the store.",
  ),
  streamStallMs: ms(60_000, "How long a reader of an event stream may take nothing before it is disconnected.", {
    min: 100,
  }),
  keyCacheMs: ms(1000, "How long the cached state of an API key is used when the notice of a change got lost."),
});

export const AUDIT_SETTINGS = inGroup("Audit", {
  auditKey: path(
    "FILE",
    "The Ed25519 private key (PEM) that signs audit checkpoints; without it one is kept in the database.",
  ),
  auditAnchor: path(
    "DIR",
    "The folder that remembers the last signed audit entry of each tenant, so that nothing behind it is signed; " +
      "with --audit-key, that file's name and .anchors unless set.",
  ),
  auditCheckpointEntries: count(1000, "Audit entries after which a checkpoint is signed.", { max: 100_000 }),
  auditCheckpointSeconds: seconds(300, "Time after which new audit entries are covered by a checkpoint in any case.", {
    max: 86_400,
  }),
  auditRootUrl: url(
    "Where each signed root of an audit log is sent, so that a copy is kept elsewhere; needs --audit-root-secret.",
  ),
  auditRootSecret: secret(
    "SECRET",
    "The secret that signs messages to --audit-root-url, 16 characters or more; rather set in the environment.",
  ),
});
