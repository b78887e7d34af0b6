import { userInfo } from "node:os";
import { listedAgents } from "../../agents/registry/stored-agents.ts";
import type { Host } from "../../engine/host.ts";
import { annotationView } from "../../engine/judgments/annotation-view.ts";
import { adoptRun } from "../../engine/runs/adopt-run.ts";
import { cancelRun } from "../../engine/runs/change-run.ts";
import { endsLog } from "../../engine/runs/event-pages.ts";
import { startWorker, type Worker } from "../../engine/worker/worker.ts";
import { judgeTask } from "../../evals/override/judge-task.ts";
import { evalPlanOf } from "../../evals/run/baseline.ts";
import { keepBaselineFile } from "../../evals/run/baseline-files.ts";
import { createEvalRun } from "../../evals/run/create-eval-run.ts";
import { evalReport } from "../../evals/run/eval-report.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import { getEval, listEvals } from "../../evals/run/list-evals.ts";
import {
  exportBaseline,
  getBaseline,
  listBaselines,
  removeBaseline,
  setBaseline,
} from "../../evals/run/named-baselines.ts";
import { resumeCheck } from "../../evals/run/resume-check.ts";
import { evalTaskBodies } from "../../evals/run/task-bodies.ts";
import { keepDraft } from "../../evals/suite/replace-suite.ts";
import { listSuites } from "../../evals/suite/stored-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { readSuite } from "../../evals/suite/suite-store.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Store } from "../../store/port/store.ts";
import { ownJudge } from "../judges/own-judge.ts";
import type { Io } from "../output/io.ts";
import { ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { agentServices } from "../wiring/agents.ts";
import { buildHost } from "../wiring/build-host.ts";
import { type ProcessScrubber, processScrubber } from "../wiring/process-scrubber.ts";
import { withEarlierEvals } from "./earlier-evals.ts";
import type { EvalHome } from "./eval-home.ts";
import { type EvalStore, openEvalStore } from "./evals-file.ts";
import { boundAgent, type OwnAgent, type OwnAgentSettings, withBoundAgents, withOwnAgent } from "./own-agent.ts";

/** The tenant of the owner key that a first start of a server makes, so that evaluations of version 0.1 in a server's file are found. */
const TENANT = "default";

export interface OwnHome extends EvalHome {
  /** What it is called under, where it is not installed. */
  readonly agentId: string | undefined;
}

export interface OwnHomeSettings extends OwnAgentSettings {
  readonly own?: OwnAgent | undefined;
  /** Nothing is written, so that the file may be in use. */
  readonly reads?: boolean;
}

/** Evaluations in the database of this machine, carried out by this process. */
export async function ownHome(
  config: Config,
  io: Io,
  { own, reads, ...settings }: OwnHomeSettings = {},
): Promise<OwnHome> {
  const scrubber = await processScrubber(config);
  const opened = await openEvalStore(config, { reads: reads === true });
  try {
    return await openedHome(opened, config, io, scrubber, own, settings);
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

async function openedHome(
  { store, isOwned }: EvalStore,
  config: Config,
  io: Io,
  scrubber: ProcessScrubber,
  ownAgent: OwnAgent | undefined,
  settings: OwnAgentSettings,
): Promise<OwnHome> {
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
  const home: OwnHome = {
    agentId: bound?.agent.agentId,
    keepSuite: async (loaded) => {
      const kept = await keepDraft(host, caller, loaded);
      if (kept === "kept") return undefined;
      const ref = refText(loaded.suite);
      return `${ref} has other tasks than before under this version; what was evaluated with those is not comparable. Raise the version to keep both.`;
    },
    suite: async (ref) => (await readSuite(host, caller.tenant, ref)).suite,
    suites: async () => (await listSuites(host, caller.tenant, { limit: 1000 })).suites,
    agentIds: async () => {
      const bound = [...installed.file.bindings.keys()].map((name) => name.split("@")[0] ?? name);
      return [...(await listedAgents(store, caller)).keys(), ...bound];
    },
    start: (request) => start(host, services, caller, request),
    goOn: (runId) => goOn(host, services, config, caller, runId),
    untilEnded: (runId, told, signal) => untilEnded(host, worker, caller, runId, { told, signal, trouble }),
    cancel: async (runId) => {
      await cancelRun(host, { caller, runId, request: { reason: "interrupted" }, record: () => undefined });
    },
    afterInterrupt: config.databaseUrl === undefined ? "resumable" : "cancelled",
    isInterrupted: async ({ runId, status }) =>
      isOwned && !isTerminal(status) && (await store.readRun(caller, runId)) !== undefined,
    entry: (runId) => getEval(host, caller, runId),
    report: (runId) => evalReport(host, caller, runId, { content: true }),
    task: (runId, taskId) => evalTaskBodies(host, caller, runId, taskId),
    list: (query) => listEvals(host, caller, query),
    baseline: (suiteId, name) => getBaseline(host, caller, { suiteId, name }),
    baselines: (cursor) => listBaselines(host, caller, { limit: 200, ...(cursor === undefined ? {} : { cursor }) }),
    judgeTask: async (runId, taskId, request) =>
      annotationView(await judgeTask(host, { caller, runId, taskId, request, record: () => undefined })),
    addFrom: async (request) => {
      const { addFromRun } = await import("../../evals/add-from/add-from-run.ts");
      const { agents, memory } = services;
      return addFromRun(host, {
        caller,
        request,
        agents,
        memory,
        mayReadBodies: async () => {},
        record: () => undefined,
      });
    },
    taskLinks: async (query) => {
      const { listTaskLinks } = await import("../../evals/add-from/task-links.ts");
      return listTaskLinks(store, caller, query);
    },
    setBaseline: (suiteId, name, named) => setBaseline(host, caller, { suiteId, name }, named),
    exportBaseline: (suiteId, name) => exportBaseline(host, caller, { suiteId, name }),
    keepBaselineFile: (file) => keepBaselineFile(host, caller, file.sha256, file),
    removeBaseline: (suiteId, name) => removeBaseline(host, caller, { suiteId, name }),
    judge: ownJudge(host, services, caller),
    close: async () => {
      await worker.stop(0);
      await services.tools.close();
      await store.close();
    },
  };
  return withEarlierEvals(home, host, caller, config);
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

async function start(
  host: Host,
  services: EvalServices,
  caller: Caller,
  request: Parameters<EvalHome["start"]>[0],
): Promise<string> {
  const { evalSuiteRef, agentId } = request;
  const configurable: Readonly<Record<string, unknown>> = request.configurable;
  const asked = { mode: "eval", evalSuiteRef, agentId, configurable } as const;
  const command = { caller, request: asked, dedup: false, record: () => undefined };
  return (await createEvalRun(host, services, command)).runId;
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
  readonly told: ((scored: number) => void) | undefined;
  readonly signal: AbortSignal;
  readonly trouble: readonly unknown[];
}

const LOOK_MS = 4;
const TELL_MS = 100;

async function untilEnded(host: Host, worker: Worker, caller: Caller, runId: string, waiting: Waiting): Promise<void> {
  const { told, signal, trouble } = waiting;
  let [scored, from, tellAtMs, stopped] = [0, 0, 0, false];
  const tell = async () => {
    for (;;) {
      const page = await host.store.readEvents(runId, from, 1000);
      from += page.length;
      scored += page.filter(({ type }) => type === "eval.scored").length;
      if (endsLog(page, 1000)) break;
    }
    told?.(scored);
  };
  // Nobody else takes it, so it has ended when it is in no hand any more.
  while (worker.stats().inHand > 0) {
    if (signal.aborted && !stopped) {
      stopped = true;
      // Stopped, the run keeps the tasks that have their score, and `--resume` goes on with the others.
      await worker.stop(0);
    }
    if (told !== undefined && performance.now() >= tellAtMs) {
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
