import type { PackDesk } from "../../agents/packs/open-pack.ts";
import type { Host } from "../../engine/host.ts";
import { authenticator } from "../../engine/identity/authenticate.ts";
import { authorizer } from "../../engine/identity/roles.ts";
import { bootstrapOwnerKey, seedKeys } from "../../engine/identity/seed-keys.ts";
import { eventRoutes } from "../../http/routes/events.ts";
import { buildServer } from "../../http/server.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { HOST_WIDE, type Store } from "../../store/port/store.ts";
import { consoleFolder, packageVersion, programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { reviewerBindings } from "../reviews/reviewer-bindings.ts";
import { ownEnvironment } from "../settings/config.ts";
import { agentsFileOf } from "../wiring/agent-bindings.ts";
import { agentServices } from "../wiring/agents.ts";
import { anchorsFor } from "../wiring/anchor-folder.ts";
import { auditSamples, rootReceiverOf, sendAuditRoots, signCheckpoints, signerFor } from "../wiring/audit.ts";
import {
  deliveryPart,
  expireRuns,
  fillQueues,
  purgePeriodically,
  startOtlp,
  workerSamples,
  workOn,
} from "../wiring/background.ts";
import { buildHost } from "../wiring/build-host.ts";
import {
  checkSuiteFiles,
  checkWorkflowFiles,
  keepSuites,
  registerNew,
  type SkippedFile,
} from "../wiring/definition-files.ts";
import { readKeyFile } from "../wiring/key-file.ts";
import { httpSettings, isLoopback, listen, streamSettings } from "../wiring/listen.ts";
import { type ProcessLog, reportTo } from "../wiring/log.ts";
import { checkPackFolders, installEverywhere, packDesk, packTrust } from "../wiring/pack-folders.ts";
import type { ProcessScrubber } from "../wiring/process-scrubber.ts";
import { reviewOn, usableBindings } from "../wiring/review-on.ts";
import type { Shutdown } from "../wiring/shutdown.ts";
import { runUntilStopped } from "../wiring/shutdown.ts";
import { openStore } from "./database.ts";

/** Runs a host until a signal ends it. */
export function serve(call: Call): Promise<number> {
  return serving(call, async () => ({ members: {} }));
}

interface Prepared {
  /** Members of the `--json` line after the address. */
  readonly members: object;
  /** Hints in place of those for an empty host. */
  readonly hints?: readonly string[];
}

/** Runs a host; `prepare` runs before the host is announced as ready. */
export function serving(call: Call, prepare: (ready: Ready) => Promise<Prepared>): Promise<number> {
  return runUntilStopped(call, async (logs, shutdown, scrubber) => {
    const ready = await start(call, logs, shutdown, scrubber);
    announce(call, ready, await prepare(ready));
    logs.log.info({ url: ready.url, version: packageVersion() }, "ready");
  });
}

interface Ready {
  readonly url: string;
  readonly ownerKey: string | undefined;
}

/** Opens the parts of the host. They are closed in the opposite order: server, worker, audit checkpoints, store. */
async function start(call: Call, logs: ProcessLog, shutdown: Shutdown, scrubber: ProcessScrubber): Promise<Ready> {
  const { config } = call;
  const { log, requestLog } = logs;
  const keyFile = config.keys === undefined ? undefined : readKeyFile(config.keys);
  // An invalid file is reported before anything is opened.
  agentsFileOf(config);
  const rootReceiver = rootReceiverOf(config);
  const trust = packTrust(config);
  const bindings = usableBindings(reviewerBindings(config), ownEnvironment());
  const store = await openStore(config);
  shutdown.add("store", () => store.close());
  purgePeriodically(store, log, shutdown);

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
    ...defined({ anchors }),
    intervalEntries: config.auditCheckpointEntries,
    intervalSeconds: config.auditCheckpointSeconds,
  };
  const version = packageVersion();
  const settings = httpSettings(config);
  const pages = defined({ consoleDir: config.console ? consoleFolder() : undefined });
  // Agents and suites before workflows, which may name them.
  await installPacks(host, call, packDesk({ host, version, settings, audit, evals, ...pages }, trust));
  await registerSuites(host, call);
  await registerWorkflows(host, call);
  expireRuns(host, config, log, shutdown);
  fillQueues(host, config, log, shutdown);
  if (keyFile) await seedKeys(host, keyFile);

  const deliveries = config.worker ? deliveryPart(host, config, log, shutdown) : undefined;
  const worker = config.worker ? workOn(host, config, log, shutdown, { paced: true }) : undefined;
  const otlpSamples = config.worker ? startOtlp(host, config, log, shutdown) : () => [];
  if (worker) host = { ...host, localWorker: worker };

  const cacheMs = config.keyCacheMs;
  const authenticating = authenticator(host, { cacheMs, onTrouble: reportTo(log, "key use") });
  const authorizing = authorizer(host, { cacheMs, onTrouble: reportTo(log, "authorization") });
  shutdown.add("authentication", async () => {
    authorizing.close();
    await authenticating.close();
  });
  const events = eventRoutes(host, { settings: streamSettings(config), report: reportTo(log, "event stream") });
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
    ...defined({ mocks: evals.mocks }),
    trust,
    reviews,
    ...pages,
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
  // The last step: a start that failed after it would never show the new key.
  return { url, ownerKey: keyFile ? undefined : await bootstrapOwnerKey(host) };
}

async function installPacks(host: Host, call: Call, desk: PackDesk): Promise<void> {
  const { packs, skipped } = await checkPackFolders(host, desk, call.config.packs);
  reportSkipped(call, skipped, "installed");
  reportSkipped(call, await installEverywhere(host, packs), "installed");
}

async function registerWorkflows(host: Host, call: Call): Promise<void> {
  const { writes, skipped } = await checkWorkflowFiles(host, call.config.workflows);
  reportSkipped(call, skipped, "registered");
  await registerNew(host, writes);
}

async function registerSuites(host: Host, call: Call): Promise<void> {
  const { suites, skipped } = await checkSuiteFiles(host, call.config.suites);
  reportSkipped(call, skipped, "registered");
  await keepSuites(host, suites);
}

/** Warns of files that were not registered or installed; with --strict that is an error. */
function reportSkipped({ config, io }: Call, skipped: readonly SkippedFile[], done: string): void {
  const warnings = skipped.map(({ file, reason }) => `${file} is not ${done}: ${reason}`);
  if (config.strict && warnings.length > 0) throw unusableInput(warnings.join("; "));
  for (const warning of warnings) io.err(`assay: ${warning}.`);
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

function announce({ config, io, json }: Call, { url, ownerKey }: Ready, { members, hints }: Prepared): void {
  if (!isLoopback(config.host)) {
    io.err(
      `assay: listening on ${config.host} without TLS: put a proxy with TLS in front, or keys are sent unencrypted.`,
    );
  }
  if (!config.worker && config.databaseUrl === undefined) {
    io.err("assay: with --no-worker and SQLite no runs are executed: no other process can use this file.");
  }
  if (json) {
    io.out(JSON.stringify({ url, pid: process.pid, version: packageVersion(), ownerKey, ...members }));
    return;
  }
  io.out(`Assay is ready at ${url}${ownerKey === undefined ? "" : `  owner key: ${ownerKey}`}`);
  for (const hint of hints ?? []) io.err(hint);
  if (hints !== undefined || !io.errIsTerminal) return;
  if (ownerKey !== undefined) io.err(`The key is not shown again. In another terminal: export ASSAY_KEY=${ownerKey}`);
  const program = programName();
  io.err(`Next: ${program} workflow register FILE, then ${program} run start WORKFLOW --watch. Stop with ctrl-c.`);
}
