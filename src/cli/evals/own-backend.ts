import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { listedAgents } from "../../agents/registry/stored-agents.ts";
import type { Host } from "../../engine/host.ts";
import { adoptRun } from "../../engine/runs/hand-over.ts";
import { startWorker, type Worker } from "../../engine/worker/worker.ts";
import { resumeCheck } from "../../evals/run/eval-node.ts";
import { evalPlanOf } from "../../evals/run/eval-plan.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { keepDraft } from "../../evals/suite/replace-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { type InProcessFetch, inProcessFetch } from "../../http/in-process.ts";
import { evalRooms } from "../../http/in-process-rooms.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store } from "../../store/port/store.ts";
import { connectHere } from "../client/client.ts";
import type { Io } from "../output/io.ts";
import { packageVersion } from "../paths.ts";
import { sqlitePath } from "../server/database.ts";
import { ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { agentServices } from "../wiring/agents.ts";
import { buildHost } from "../wiring/build-host.ts";
import type { SkippedFile } from "../wiring/definition-files.ts";
import { checkSuiteFiles, keepSuites } from "../wiring/definition-files.ts";
import { type ProcessScrubber, processScrubber } from "../wiring/process-scrubber.ts";
import type { EvalBackend } from "./backend.ts";
import { type EvalStore, openEvalStore } from "./evals-file.ts";
import {
  type BoundAgent,
  boundAgent,
  type OwnAgent,
  type OwnAgentSettings,
  withBoundAgents,
  withOwnAgent,
} from "./own-agent.ts";

/** The tenant of the owner key that the first start of a server makes: evaluations of version 0.1 in a server's file have it. */
const TENANT = "default";

interface OwnBackend extends EvalBackend {
  /** What its client asks in place of the network. */
  readonly fetch: InProcessFetch;
  /** The id of the agent that exists for this call only. */
  readonly agentId: string | undefined;
}

interface OwnBackendSettings extends OwnAgentSettings {
  readonly own?: OwnAgent | undefined;
  /** Agents of this process. */
  readonly bound?: readonly BoundAgent[];
  /** Nothing is written, so the file may be in use. */
  readonly reads?: boolean;
}

/** A backend on the database of this machine, with this process as its worker. */
export async function ownBackend(
  config: Config,
  io: Pick<Io, "err">,
  { own, reads, ...settings }: OwnBackendSettings = {},
): Promise<OwnBackend> {
  const scrubber = await processScrubber(config);
  const opened = await openEvalStore(config, { reads: reads === true });
  try {
    return await backendOn(opened, config, io, scrubber, own, settings);
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

async function backendOn(
  { store, isOwned }: EvalStore,
  config: Config,
  io: Pick<Io, "err">,
  scrubber: ProcessScrubber,
  ownAgent: OwnAgent | undefined,
  settings: Omit<OwnBackendSettings, "own" | "reads">,
): Promise<OwnBackend> {
  const installed = agentServices(store, config, scrubber);
  const { gateway } = installed;
  const world = { environment: ownEnvironment(), scrubText: scrubber.scrubText, gateway };
  const bound = ownAgent && boundAgent(ownAgent, settings, world);
  const ofThisCall = [...(settings.bound ?? []), ...(bound === undefined ? [] : [bound])];
  const known = ofThisCall.reduce(withOwnAgent, withBoundAgents(installed.agents, installed.file));
  const own = config.databaseUrl === undefined ? { importedGold: true as const } : {};
  const services = { ...installed, ...own, agents: known };
  const bare = await buildHost(store, config, scrubber, services);
  const mayWrite = isOwned || config.databaseUrl !== undefined;
  if (mayWrite && (config.packs.length > 0 || config.suites.length > 0)) {
    await registerFiles(bare, config, io, services);
  }
  const errors: unknown[] = [];
  const worker = ownWorker(bare, config, (error) => errors.push(error));
  const host: Host = { ...bare, localWorker: worker };
  const caller = callerHere();
  const rooms = evalRooms({ ...services, version: packageVersion() });
  const here = inProcessFetch({ host, caller, rooms });
  const hostOn = (store: Store) => inProcessFetch({ host: { ...host, store }, caller, rooms });
  const earlierPath = sqlitePath(config);
  const earlier =
    config.databaseUrl === undefined && existsSync(earlierPath)
      ? (await import("./evals-file.ts")).withEarlierEvals(here, earlierPath, hostOn)
      : undefined;
  const fetch = earlier?.fetch ?? here;
  return {
    fetch,
    client: connectHere(fetch),
    agentId: bound?.agent.agentId,
    keepSuite: async (loaded) => {
      const kept = await keepDraft(host, caller, loaded);
      if (kept === "kept") return undefined;
      const ref = refText(loaded.suite);
      return `${ref} has other tasks than before under this version; earlier evaluations are not comparable. Raise the version to keep both.`;
    },
    agentIds: async () => {
      const bound = [...installed.file.bindings.keys()].map((name) => name.split("@")[0] ?? name);
      return [...(await listedAgents(store, caller)).keys(), ...bound];
    },
    resume: (runId) => resume(host, services, config, caller, runId),
    untilEnded: (runId, onScored, signal) => untilEnded(host, worker, caller, runId, { onScored, signal, errors }),
    afterInterrupt: config.databaseUrl === undefined ? "resumable" : "cancelled",
    isInterrupted: async ({ runId, status }) =>
      isOwned && !isTerminal(status) && (await store.readRun(caller, runId)) !== undefined,
    close: async () => {
      await worker.stop(0);
      await services.tools.close();
      await store.close();
      await earlier?.close();
    },
  };
}

/** Installs packs and registers suites from folders, as a server does at its start. Files that cannot be used are named and left out. */
async function registerFiles(host: Host, config: Config, io: Pick<Io, "err">, evals: EvalServices): Promise<void> {
  const skipped = config.packs.length === 0 ? [] : await installPacks(host, config, evals);
  const checked = await checkSuiteFiles(host, config.suites);
  await keepSuites(host, checked.suites);
  for (const { file, reason } of [...skipped, ...checked.skipped]) io.err(`assay: ${file} is left out: ${reason}.`);
}

async function installPacks(host: Host, config: Config, evals: EvalServices): Promise<SkippedFile[]> {
  const { checkPackFolders, installEverywhere, packDesk, packTrust } = await import("../wiring/pack-folders.ts");
  const { httpSettings } = await import("../wiring/listen.ts");
  const { signerFor } = await import("../wiring/audit.ts");
  const audit = {
    verifier: await signerFor(host.store, config),
    intervalEntries: config.auditCheckpointEntries,
    intervalSeconds: config.auditCheckpointSeconds,
  };
  const served = { host, version: packageVersion(), settings: httpSettings(config), audit, evals };
  const { packs, skipped } = await checkPackFolders(host, packDesk(served, packTrust(config)), config.packs);
  return [...skipped, ...(await installEverywhere(host, packs))];
}

function callerHere(): Caller {
  const base = { tenant: TENANT, kind: "user", keyId: "none", roles: ["owner"], groups: [], keyScopes: ["*"] } as const;
  return { ...base, principal: nameHere() };
}

function nameHere(): string {
  try {
    return userInfo().username || "local";
  } catch {
    // A user of a container may have an id and no name.
    return "local";
  }
}

/** A worker that takes only the runs that are handed to it: other runs in this database belong to other processes. */
function ownWorker(host: Host, config: Config, onError: (error: unknown) => void): Worker {
  const store: Store = { ...host.store, claimRuns: async () => [], nextWakeAtMs: async () => undefined };
  const { leaseMs, leaseRenewMs: renewMs, sweepMs } = config;
  const settings = { workerId: host.newId("wrk"), leaseMs, renewMs, sweepMs, concurrency: 1, onError };
  return startWorker({ ...host, store }, settings);
}

/** Resumes a run whose worker is gone, since this process owns the file. Other databases are shared. */
async function resume(
  host: Host,
  services: EvalServices,
  { databaseUrl }: Config,
  caller: Caller,
  runId: string,
): Promise<void> {
  if (databaseUrl !== undefined) {
    throw unusableInput(
      "--resume needs a data folder; in a PostgreSQL database a server resumes an interrupted evaluation",
    );
  }
  const run = await host.store.readRun(caller, runId);
  const plan = run && evalPlanOf(run);
  if (run === undefined || plan === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  // A run that resumes with another agent or suite fails for good; refused here, it can still be resumed with the right one.
  const checked = await resumeCheck(host, services, run.owner, plan);
  if ("code" in checked) throw unusableInput(checked.message.replace(/\.$/, ""));
  await adoptRun(host, run);
}

interface Waiting {
  readonly onScored: ((scored: number) => void) | undefined;
  readonly signal: AbortSignal;
  readonly errors: readonly unknown[];
}

const POLL_MS = 4;
const PROGRESS_MS = 100;

async function untilEnded(host: Host, worker: Worker, caller: Caller, runId: string, waiting: Waiting): Promise<void> {
  const { onScored, signal, errors } = waiting;
  let [scored, from, progressAtMs, stopped] = [0, 0, 0, false];
  const countScored = async () => {
    for (;;) {
      const page = await host.store.readEvents(runId, from, 1000);
      from += page.length;
      scored += page.filter(({ type }) => type === "eval.scored").length;
      if (isLastPage(page, 1000)) return scored;
    }
  };
  // No other worker takes the run, so it has ended when this worker holds no run.
  while (worker.stats().inHand > 0) {
    if (signal.aborted && !stopped) {
      stopped = true;
      // A stopped run keeps the tasks that have their score; `--resume` runs the others.
      await worker.stop(0);
    }
    if (onScored !== undefined && performance.now() >= progressAtMs) {
      onScored(await countScored());
      progressAtMs = performance.now() + PROGRESS_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  signal.throwIfAborted();
  if (errors.length > 0) throw errors[0];
  const run = await host.store.readRun(caller, runId);
  if (run === undefined || !isTerminal(run.status)) {
    throw new AppError("unavailable", { reason: `The evaluation ${runId} did not end` });
  }
}
