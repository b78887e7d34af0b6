import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { listedAgents } from "../../agents/registry/stored-agents.ts";
import type { Host } from "../../engine/host.ts";
import { adoptRun } from "../../engine/runs/adopt-run.ts";
import { endsLog } from "../../engine/runs/event-pages.ts";
import { startWorker, type Worker } from "../../engine/worker/worker.ts";
import { evalPlanOf } from "../../evals/run/baseline.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { resumeCheck } from "../../evals/run/resume-check.ts";
import { keepDraft } from "../../evals/suite/replace-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { inProcessFetch } from "../../http/in-process.ts";
import { evalRooms } from "../../http/in-process-rooms.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { connectHere } from "../client/client.ts";
import type { Io } from "../output/io.ts";
import { sqlitePath } from "../server/database.ts";
import { ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { packageVersion } from "../version.ts";
import { agentServices } from "../wiring/agents.ts";
import { buildHost } from "../wiring/build-host.ts";
import { type ProcessScrubber, processScrubber } from "../wiring/process-scrubber.ts";
import type { EvalBackend } from "./eval-backend.ts";
import { type EvalStore, openEvalStore } from "./evals-file.ts";
import { boundAgent, type OwnAgent, type OwnAgentSettings, withBoundAgents, withOwnAgent } from "./own-agent.ts";

/** The tenant of the owner key that a first start of a server makes, so that evaluations of version 0.1 in a server's file are found. */
const TENANT = "default";

export interface OwnBackend extends EvalBackend {
  /** What it is called under, where it is not installed. */
  readonly agentId: string | undefined;
}

export interface OwnBackendSettings extends OwnAgentSettings {
  readonly own?: OwnAgent | undefined;
  /** Nothing is written, so that the file may be in use. */
  readonly reads?: boolean;
}

/** Evaluations in the database of this machine, carried out by this process. */
export async function ownBackend(
  config: Config,
  io: Io,
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
  io: Io,
  scrubber: ProcessScrubber,
  ownAgent: OwnAgent | undefined,
  settings: OwnAgentSettings,
): Promise<OwnBackend> {
  const installed = agentServices(store, config, scrubber);
  const { gateway } = installed;
  const world = { environment: ownEnvironment(), scrubText: scrubber.scrubText, gateway };
  const bound = ownAgent && boundAgent(ownAgent, settings, world);
  const known = withBoundAgents(installed.agents, installed.file);
  const own = config.databaseUrl === undefined ? { importedGold: true as const } : {};
  const services = { ...installed, ...own, agents: bound === undefined ? known : withOwnAgent(known, bound) };
  const bare = await buildHost(store, config, scrubber, services);
  const mayWrite = isOwned || config.databaseUrl !== undefined;
  if (mayWrite && (config.packs.length > 0 || config.suites.length > 0)) {
    const { bringFiles } = await import("./bring-files.ts");
    await bringFiles(bare, config, io, services);
  }
  const trouble: unknown[] = [];
  const worker = ownWorker(bare, config, (error) => trouble.push(error));
  const host: Host = { ...bare, localWorker: worker };
  const caller = callerHere();
  const rooms = evalRooms({ ...services, version: packageVersion() });
  const here = inProcessFetch({ host, caller, rooms });
  const hostOn = (store: Store) => inProcessFetch({ host: { ...host, store }, caller, rooms });
  const earlierPath = sqlitePath(config);
  const earlier =
    config.databaseUrl === undefined && existsSync(earlierPath)
      ? (await import("./earlier-evals.ts")).withEarlierEvals(here, earlierPath, hostOn)
      : undefined;
  return {
    client: connectHere(earlier?.fetch ?? here),
    agentId: bound?.agent.agentId,
    keepSuite: async (loaded) => {
      const kept = await keepDraft(host, caller, loaded);
      if (kept === "kept") return undefined;
      const ref = refText(loaded.suite);
      return `${ref} has other tasks than before under this version; what was evaluated with those is not comparable. Raise the version to keep both.`;
    },
    agentIds: async () => {
      const bound = [...installed.file.bindings.keys()].map((name) => name.split("@")[0] ?? name);
      return [...(await listedAgents(store, caller)).keys(), ...bound];
    },
    goOn: (runId) => goOn(host, services, config, caller, runId),
    untilEnded: (runId, onScored, signal) => untilEnded(host, worker, caller, runId, { onScored, signal, trouble }),
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

function callerHere(): Caller {
  const base = { tenant: TENANT, kind: "user", keyId: "none", roles: ["owner"], groups: [], keyScopes: ["*"] } as const;
  return { ...base, principal: nameHere() };
}

function nameHere(): string {
  try {
    return userInfo().username || "local";
  } catch {
    // In a container a user may have a number and no name.
    return "local";
  }
}

/** Takes what is handed to it and nothing else: the runs of others in this database are none of an evaluation's business. */
function ownWorker(host: Host, config: Config, onError: (error: unknown) => void): Worker {
  const store: Store = { ...host.store, claimRuns: async () => [], nextWakeAtMs: async () => undefined };
  const { leaseMs, leaseRenewMs: renewMs, sweepMs } = config;
  const settings = { workerId: host.newId("wrk"), leaseMs, renewMs, sweepMs, concurrency: 1, onError };
  return startWorker({ ...host, store }, settings);
}

/** This process has the file for itself, so whoever began the evaluation is gone. Other databases are shared. */
async function goOn(
  host: Host,
  services: EvalServices,
  { databaseUrl }: Config,
  caller: Caller,
  runId: string,
): Promise<void> {
  if (databaseUrl !== undefined) {
    const problem =
      "--resume needs a data folder; what was interrupted in a PostgreSQL database a server on it takes over";
    throw new AppError("unusable_input", { problem });
  }
  const run = await host.store.readRun(caller, runId);
  const plan = run && evalPlanOf(run);
  if (run === undefined || plan === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  // Begun again with something else it would fail for good; refused here it can still go on with the right one.
  const begun = await resumeCheck(host, services, run.owner, plan);
  if ("code" in begun) throw new AppError("unusable_input", { problem: begun.message.replace(/\.$/, "") });
  await adoptRun(host, run);
}

interface Waiting {
  readonly onScored: ((scored: number) => void) | undefined;
  readonly signal: AbortSignal;
  readonly trouble: readonly unknown[];
}

const LOOK_MS = 4;
const TELL_MS = 100;

async function untilEnded(host: Host, worker: Worker, caller: Caller, runId: string, waiting: Waiting): Promise<void> {
  const { onScored, signal, trouble } = waiting;
  let [scored, from, tellAtMs, stopped] = [0, 0, 0, false];
  const tell = async () => {
    for (;;) {
      const page = await host.store.readEvents(runId, from, 1000);
      from += page.length;
      scored += page.filter(({ type }) => type === "eval.scored").length;
      if (endsLog(page, 1000)) break;
    }
    onScored?.(scored);
  };
  // Nobody else takes it, so it has ended when it is in no hand any more.
  while (worker.stats().inHand > 0) {
    if (signal.aborted && !stopped) {
      stopped = true;
      // Stopped, the run keeps the tasks that have their score, and `--resume` goes on with the others.
      await worker.stop(0);
    }
    if (onScored !== undefined && performance.now() >= tellAtMs) {
      await tell();
      tellAtMs = performance.now() + TELL_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  signal.throwIfAborted();
  if (trouble.length > 0) throw trouble[0];
  const run = await host.store.readRun(caller, runId);
  if (run === undefined || !isTerminal(run.status)) {
    throw new AppError("unavailable", { reason: `The evaluation ${runId} was not carried out to its end` });
  }
}
