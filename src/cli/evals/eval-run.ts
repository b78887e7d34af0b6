import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseSuiteRef, refText } from "../../evals/suite/suite-ref.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { EvalConfigurable } from "../../protocol/evals/api.ts";
import type { BaselineFile } from "../../protocol/evals/baselines.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Client } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { interruptible } from "../program/exit-codes.ts";
import { orNearest, suiteNames, suitesOf } from "../program/nearest-name.ts";
import {
  aboutEvaluations,
  cancelInterrupted,
  type EvalBackend,
  keptText,
  ownConfig,
  rememberPlace,
  serverBackend,
  wantsServer,
} from "./backend.ts";
import { isBaseline, isBaselineFile, loadBaselineFile, namedBaseline } from "./baselines.ts";
import type { EVAL_RUN_FLAGS } from "./commands.ts";
import { checkResuming, configurableOf, ownAgentOf, selectedTasks } from "./eval-request.ts";
import { evalNamed, LATEST, latestEval } from "./latest-eval.ts";
import { checkFiles, demandsOf, jsonText, outcomeOf, writeFiles } from "./outcome.ts";
import type { OwnAgent } from "./own-agent.ts";
import { reportText } from "./report-text.ts";
import { type NamedSuite, placesOf, refOf, suiteGiven } from "./suite-argument.ts";

type EvalRunCall = Call<typeof EVAL_RUN_FLAGS>;

/** Runs an evaluation and prints its result. Everything that can be refused is refused before the agent is called. */
export async function evalRun(call: EvalRunCall): Promise<number> {
  const { args, flags, io } = call;
  const demands = demandsOf(flags);
  checkResuming(flags);
  if (demands.requireVerdict && flags.baseline === undefined && flags.resume === undefined) {
    throw unusableInput("--require-verdict needs --baseline");
  }
  checkFiles(flags);
  const own = ownAgentOf(flags);
  const suite = await suiteGiven(args[0] ?? "", call);
  const { baseline } = flags;
  const baselineFile =
    baseline !== undefined && isBaselineFile(baseline) ? await loadBaselineFile(baseline) : undefined;
  const configurable = configurableOf(flags, own, baselineFile);
  const isOnServer = own === undefined && wantsServer(call);
  let hint = "The evaluation had not begun; there is no verdict.";
  const hintNow = () => hint;
  return interruptible(io, hintNow, async (signal) => {
    const { backend, agentId } = await openBackend(call, own, suite);
    const { client } = backend;
    try {
      const runId = await startEval(call, backend, { suite, agentId, configurable, baselineFile });
      const onScored = io.errIsTerminal ? await progressOf(client, runId, call) : undefined;
      rememberPlace(call, isOnServer);
      hint = interruptText(backend, runId, call);
      await backend.untilEnded(runId, onScored, signal).catch(async (error: unknown) => {
        if (signal.aborted && backend.afterInterrupt === "cancelled") await cancelInterrupted(client, runId);
        throw error;
      });
      const outcome = await outcomeOf(backend, runId, demands);
      const { verdict, exitCode } = outcome.conclusion;
      io.out(call.json ? jsonText(outcome, flags) : reportText(outcome, io.paint));
      if (verdict === "unreachable" && own?.type === "command" && /\s/.test(own.program)) {
        io.err("assay: --command takes the program alone; its arguments go with --arg.");
      }
      const isFile = suite.file !== undefined && !suite.isFetched;
      await writeFiles(isFile ? { ...outcome, places: placesOf(suite.loaded, suite.file) } : outcome, flags);
      return exitCode;
    } catch (error) {
      throw aboutEvaluations(error, isOnServer ? undefined : "here");
    } finally {
      await backend.close();
    }
  });
}

/** The backend of an evaluation. A server cannot run a program or call an address of this machine, so these are evaluated here. */
async function openBackend(
  call: EvalRunCall,
  own: OwnAgent | undefined,
  suite: NamedSuite,
): Promise<{ readonly backend: EvalBackend; readonly agentId: string }> {
  const { flags, given, config, io, json } = call;
  if (own !== undefined && given.has("url")) {
    throw unusableInput(
      `--${own.type} runs here and not on a server; leave --url out, or bind the agent there and use --agent`,
    );
  }
  const server = wantsServer(call);
  if (server && own !== undefined) io.err(`assay: --${own.type} runs here, and not on ${config.url}.`);
  if (server && own === undefined) {
    if (!json) io.err(`assay: evaluating at ${config.url}`);
    return { backend: serverBackend(config), agentId: flags.agent ?? "" };
  }
  if (!json) io.err(`assay: evaluating here; results are kept ${keptText(call)}`);
  const chosen = ownConfig(call);
  if (chosen.databaseUrl === undefined && isSeenByGit(chosen.data)) {
    const folder = basename(resolve(chosen.data));
    io.err(`assay: results are kept in ${folder}; add ${folder}/ to .gitignore.`);
  }
  const { ownBackend } = await import("./own-backend.ts");
  const backend = await ownBackend(chosen, io, {
    own,
    // The results are of the agent that the suite is made for, whatever its program or address is called.
    agentId: suite.file === undefined || flags.anyAgent ? undefined : suite.loaded.suite.targetAgentId,
    version: flags.agentVersion,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
  });
  return { backend, agentId: backend.agentId ?? flags.agent ?? "" };
}

/** Whether a data folder that does not exist yet would be part of a repository. */
export function isSeenByGit(data: string): boolean {
  const folder = resolve(data);
  if (existsSync(folder)) return false;
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (isIgnored(join(at, ".gitignore"), basename(folder))) return false;
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}

function isIgnored(file: string, name: string): boolean {
  try {
    const lines = readFileSync(file, "utf8").split(/\r?\n/);
    return lines.some((line) => line.trim().replace(/^(\*\*)?\/|\/(\*+)?$/g, "") === name);
  } catch {
    // Absent or unreadable: no rule that is known.
    return false;
  }
}

interface Start {
  readonly suite: NamedSuite;
  readonly agentId: string;
  readonly configurable: EvalConfigurable;
  readonly baselineFile: BaselineFile | undefined;
}

/** Starts the evaluation, or resumes the one that `--resume` names. Returns its id. */
async function startEval({ flags, io, ...call }: EvalRunCall, backend: EvalBackend, start: Start): Promise<string> {
  const { suite, agentId, configurable, baselineFile } = start;
  const { client } = backend;
  const evalSuiteRef = refOf(suite);
  const { suiteId } = parseSuiteRef(evalSuiteRef);
  if (suite.file !== undefined && flags.resume === undefined) {
    const note = await backend.keepSuite(suite.loaded);
    if (note !== undefined) io.err(`assay: ${note}`);
  }
  const started = async () => {
    if (flags.resume !== undefined) return resumeEval(backend, flags.resume, { suite, suiteId, agentId });
    if (baselineFile !== undefined) await client.evals.keepBaselineFile(baselineFile.sha256, baselineFile);
    const { baseline: name, ...rest } = configurable;
    const compared = name === undefined ? {} : await baselineNamed(client, suiteId, name);
    const tasks = await tasksOf(client, suite, flags);
    const request = { evalSuiteRef, agentId, configurable: { ...rest, ...compared, ...tasks } };
    return (await client.runs.start({ mode: "eval", ...request })).runId;
  };
  return orNearest(started(), {
    baseline: { ...namedBaseline(client, suiteId, flags.baseline ?? ""), hint: SET_BASELINE },
    agent: { name: agentId, names: backend.agentIds, ...(wantsServer(call) ? {} : { hint: BRING_AGENTS }) },
    suite: { name: evalSuiteRef, names: async () => suiteNames(await suitesOf(client), evalSuiteRef) },
  });
}

const SET_BASELINE = "Set one with: assay eval baseline set NAME --latest";
const BRING_AGENTS = "Bring it with --packs DIR, or bind it in a file and name that with --agents FILE.";

/** Refuses a baseline that does not exist. `latest` is the newest evaluation, unless a baseline has that name. */
async function baselineNamed(client: Client, suiteId: string, name: string): Promise<EvalConfigurable> {
  if (name === LATEST && !(await isBaseline(client, suiteId, name))) {
    return { baselineRunId: await evalNamed(client, name, { suiteId, status: "completed" }) };
  }
  await client.evals.baseline(suiteId, name);
  return { baseline: name };
}

async function tasksOf(client: Client, suite: NamedSuite, flags: EvalRunCall["flags"]): Promise<EvalConfigurable> {
  if (flags.task.length === 0 && flags.failedIn === undefined) return {};
  const { tasks, suiteId } = suite.file === undefined ? await client.suites.get(suite.ref) : suite.loaded.suite;
  return { taskIds: await selectedTasks(client, { tasks, suiteId }, flags) };
}

/** Resumes an interrupted evaluation, which has to be of the same suite and the same agent. */
async function resumeEval(
  { client, resume }: EvalBackend,
  named: string,
  { suite, suiteId, agentId }: Pick<Start, "suite" | "agentId"> & { readonly suiteId: string },
): Promise<string> {
  const runId = named === LATEST ? await latestEval(client, { suiteId, status: "running" }) : named;
  if (runId === undefined) throw unusableInput(`no evaluation with ${suiteId} was left unfinished`);
  const entry = await client.evals.get(runId);
  if (isTerminal(entry.status)) throw unusableInput(`${runId} has ended; see it with: assay eval show ${runId}`);
  if (entry.agentId !== agentId) throw unusableInput(`${runId} evaluates ${entry.agentId}, and not ${agentId}`);
  const startedWith = refText({ suiteId: entry.suiteId, version: entry.suiteVersion });
  const given = refOf(suite);
  if (given !== startedWith && given !== entry.suiteId) {
    throw unusableInput(`${runId} was started with ${startedWith}, and not ${given}`);
  }
  if (suite.file !== undefined) {
    const kept = await client.suites.get(startedWith);
    if (canonicalJson(kept) !== canonicalJson(suite.loaded.suite)) {
      throw unusableInput(`${suite.file} has other tasks than ${runId} was started with; start a new evaluation`);
    }
  }
  await resume(runId);
  return runId;
}

const BAR_WIDTH = 24;

async function progressOf(client: Client, runId: string, { io }: EvalRunCall): Promise<(scored: number) => void> {
  const { taskCount } = await client.evals.get(runId);
  return (scored) => {
    const filled = taskCount === 0 ? 0 : Math.floor((Math.min(scored, taskCount) / taskCount) * BAR_WIDTH);
    io.progress(`${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${scored} of ${taskCount}`);
  };
}

function interruptText({ afterInterrupt }: EvalBackend, runId: string, { config }: EvalRunCall): string {
  if (afterInterrupt === "cancelled") {
    return "The evaluation was cancelled; there is no verdict. See what was done with: assay eval show";
  }
  if (afterInterrupt === "goes on") {
    return `The evaluation goes on at ${config.url}. Wait for it with the same command and --resume ${runId}, or stop it with: assay run cancel ${runId}`;
  }
  return `There is no verdict, and no file was written. Resume it with: assay eval run SUITE --resume ${runId}, and the same agent; tasks that have their score are not run again.`;
}
