import type { PackDesk } from "../../agents/packs/open-pack.ts";
import type { Host } from "../../engine/host.ts";
import { authenticator } from "../../engine/identity/authenticate.ts";
import { bootstrapOwnerKey } from "../../engine/identity/bootstrap-key.ts";
import { authorizer } from "../../engine/identity/roles.ts";
import { seedKeys } from "../../engine/identity/seed-keys.ts";
import { eventRoutes } from "../../http/routes/events.ts";
import { buildServer } from "../../http/server.ts";
import { AppError } from "../../protocol/errors.ts";
import { HOST_WIDE, type Store } from "../../store/port/store.ts";
import { consoleFolder, programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { reviewerBindings } from "../reviews/reviewer-bindings.ts";
import { ownEnvironment } from "../settings/config.ts";
import { packageVersion } from "../version.ts";
import { agentsFileOf } from "../wiring/agent-bindings.ts";
import { agentServices } from "../wiring/agents.ts";
import { buildHost } from "../wiring/build-host.ts";
import { expireRuns } from "../wiring/expire-runs.ts";
import { fillQueues } from "../wiring/fill-queues.ts";
import { httpSettings, streamSettings } from "../wiring/http-settings.ts";
import { readKeyFile } from "../wiring/key-file.ts";
import { isLoopback, listen } from "../wiring/listen.ts";
import type { ProcessLog } from "../wiring/log.ts";
import { checkPackFolders, installEverywhere, packDesk, packTrust } from "../wiring/pack-folders.ts";
import type { ProcessScrubber } from "../wiring/process-scrubber.ts";
import { purgeFromTimeToTime } from "../wiring/purge.ts";
import { reviewOn, usableBindings } from "../wiring/review-on.ts";
import { runUntilStopped } from "../wiring/run-until-stopped.ts";
import { rootReceiverOf, sendAuditRoots } from "../wiring/send-audit-roots.ts";
import type { Shutdown } from "../wiring/shutdown.ts";
import { anchorsFor, auditSamples, signCheckpoints, signerFor } from "../wiring/sign-audit.ts";
import { deliveryPart } from "../wiring/start-deliveries.ts";
import { startOtlp } from "../wiring/start-otlp.ts";
import { workOn } from "../wiring/start-worker.ts";
import { checkSuiteFiles, keepSuites } from "../wiring/suite-files.ts";
import { workerSamples } from "../wiring/worker-samples.ts";
import { checkWorkflowFiles, registerNew, type SkippedFile } from "../wiring/workflow-files.ts";
import { openStore } from "./database.ts";

/** One process with everything in it, wired from top to bottom; it ends with a signal. */
export function serve(call: Call): Promise<number> {
  return serving(call, async () => ({ told: {} }));
}

export interface Prepared {
  /** What `--json` tells beside the address. */
  readonly told: object;
  /** In place of those for whoever has just started an empty host. */
  readonly hints?: readonly string[];
}

/** The same, with something to be done before it is said to be ready. */
export function serving(call: Call, prepare: (ready: Ready) => Promise<Prepared>): Promise<number> {
  return runUntilStopped(call, async (logs, shutdown, scrubber) => {
    const ready = await start(call, logs, shutdown, scrubber);
    announce(call, ready, await prepare(ready));
    logs.log.info({ url: ready.url, version: packageVersion() }, "ready");
  });
}

export interface Ready {
  readonly url: string;
  readonly ownerKey: string | undefined;
}

/** What is opened first is closed last: the server, the worker, the audit checkpoints, the store. */
async function start(call: Call, logs: ProcessLog, shutdown: Shutdown, scrubber: ProcessScrubber): Promise<Ready> {
  const { config } = call;
  const { log, requestLog } = logs;
  const keyFile = config.keys === undefined ? undefined : readKeyFile(config.keys);
  // A file that cannot be used is told before anything is opened.
  agentsFileOf(config);
  const rootReceiver = rootReceiverOf(config);
  const trust = packTrust(config);
  const bindings = usableBindings(reviewerBindings(config), ownEnvironment());
  const store = await openStore(config);
  shutdown.add("store", () => store.close());
  purgeFromTimeToTime(store, log, shutdown);

  const signer = await signerFor(store, config);
  const anchors = anchorsFor(config);
  const evals = agentServices(store, config, scrubber);
  shutdown.add("tools", () => evals.tools.close());
  let host = await buildHost(store, config, scrubber, evals);
  const rootSamples = sendAuditRoots(host, signer, rootReceiver, config, log, shutdown);
  if (host.capabilities.has("auditLogIntegrity")) {
    host = { ...host, checkpointer: signCheckpoints(host, signer, config, log, shutdown, anchors) };
  }
  const audit = {
    verifier: signer,
    ...(anchors === undefined ? {} : { anchors }),
    intervalEntries: config.auditCheckpointEntries,
    intervalSeconds: config.auditCheckpointSeconds,
  };
  const version = packageVersion();
  const settings = httpSettings(config);
  const shown = config.console ? { consoleDir: consoleFolder() } : {};
  // Agents and suites before workflows, which may name them.
  await installPacks(host, call, packDesk({ host, version, settings, audit, evals, ...shown }, trust));
  await registerSuites(host, call);
  await registerWorkflows(host, call);
  expireRuns(host, config, log, shutdown);
  fillQueues(host, config, log, shutdown);
  if (keyFile) await seedKeys(host, keyFile);

  const deliveries = config.worker ? deliveryPart(host, config, log, shutdown) : undefined;
  const worker = config.worker ? workOn(host, config, log, shutdown, { paced: true }) : undefined;
  const otlpSamples = config.worker ? startOtlp(host, config, log, shutdown) : () => [];
  if (worker) host = { ...host, localWorker: worker };

  const trouble = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const cacheMs = config.keyCacheMs;
  const authenticating = authenticator(host, { cacheMs, onTrouble: trouble("key use") });
  const authorizing = authorizer(host, { cacheMs, onTrouble: trouble("authorization") });
  shutdown.add("authentication", async () => {
    authorizing.close();
    await authenticating.close();
  });
  const events = eventRoutes(host, { settings: streamSettings(config), report: trouble("event stream") });
  const reviews = reviewOn(host, bindings, config, shutdown, () => scrubber.known());
  const app = buildServer({
    host,
    settings,
    log,
    requestLog,
    version,
    authenticator: authenticating,
    authorizer: authorizing,
    audit,
    events,
    evals,
    ...(evals.mocks === undefined ? {} : { mocks: evals.mocks }),
    trust,
    reviews,
    ...shown,
    fixtures: () => hostWideIds(store),
    samples: () => [
      ...events.samples(),
      ...(worker ? workerSamples(worker) : []),
      ...(deliveries?.samples() ?? []),
      ...otlpSamples(),
      ...auditSamples(host),
      ...rootSamples(),
    ],
  });
  shutdown.add("server", () => app.close());
  const url = await listen(app, config);
  deliveries?.start(url);
  // Last of all: a key that is made by a start which then fails would never be shown.
  return { url, ownerKey: keyFile ? undefined : await bootstrapOwnerKey(host) };
}

async function installPacks(host: Host, call: Call, desk: PackDesk): Promise<void> {
  const { packs, skipped } = await checkPackFolders(host, desk, call.config.packs);
  complain(call, skipped, "installed");
  complain(call, await installEverywhere(host, packs), "installed");
}

async function registerWorkflows(host: Host, call: Call): Promise<void> {
  const { writes, skipped } = await checkWorkflowFiles(host, call.config.workflows);
  complain(call, skipped, "registered");
  await registerNew(host, writes);
}

async function registerSuites(host: Host, call: Call): Promise<void> {
  const { suites, skipped } = await checkSuiteFiles(host, call.config.suites);
  complain(call, skipped, "registered");
  await keepSuites(host, suites);
}

function complain({ config, io }: Call, skipped: readonly SkippedFile[], done: string): void {
  const complaints = skipped.map(({ file, reason }) => `${file} is not ${done}: ${reason}`);
  if (config.strict && complaints.length > 0) throw new AppError("unusable_input", { problem: complaints.join("; ") });
  for (const complaint of complaints) io.err(`assay: ${complaint}.`);
}

const PAGE = 500;

async function hostWideIds(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page = await store.listWorkflows(HOST_WIDE, after, PAGE);
    ids.push(...page.map(({ workflowId }) => workflowId));
    after = page.length < PAGE ? undefined : ids.at(-1);
  }
  return ids;
}

function announce({ config, io, json }: Call, { url, ownerKey }: Ready, { told, hints }: Prepared): void {
  if (!isLoopback(config.host)) {
    io.err(`assay: listening on ${config.host} without TLS: put a proxy with TLS in front, or keys travel readable.`);
  }
  if (!config.worker && config.databaseUrl === undefined) {
    io.err("assay: with --no-worker and SQLite nobody executes runs: no other process can work on this file.");
  }
  if (json)
    io.out(
      JSON.stringify({ url, pid: process.pid, version: packageVersion(), ...(ownerKey && { ownerKey }), ...told }),
    );
  else io.out(`Assay is ready at ${url}${ownerKey === undefined ? "" : `  owner key: ${ownerKey}`}`);
  if (json) return;
  for (const hint of hints ?? []) io.err(hint);
  if (hints !== undefined || !io.errIsTerminal) return;
  if (ownerKey !== undefined) io.err(`The key is not shown again. In another terminal: export ASSAY_KEY=${ownerKey}`);
  const program = programName();
  io.err(`Next: ${program} workflow register FILE, then ${program} run start WORKFLOW --watch. Stop with ctrl-c.`);
}
