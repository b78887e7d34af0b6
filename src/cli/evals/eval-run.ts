import { parseSuiteRef, refText } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import { type EvalConfigurable, REASONING_VERBOSITIES } from "../../protocol/evals/api.ts";
import type { BaselineFile } from "../../protocol/evals/baseline-file.ts";
import { EVAL_MODES, type EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { Client } from "../client/client.ts";
import { dollars, split } from "../files/arguments.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { orNearest, suiteNames, suitesOf } from "../program/nearest-name.ts";
import { interruptible } from "../reviews/interruptible.ts";
import { isBaselineFile, loadBaselineFile } from "./baseline-file.ts";
import { keptText, ofEvaluations, ownConfig, wantsServer } from "./choose-backend.ts";
import { chosenTasks } from "./chosen-tasks.ts";
import type { EVAL_RUN_FLAGS } from "./commands.ts";
import { cancelInterrupted, type EvalBackend } from "./eval-backend.ts";
import { checkFiles, jsonText, writeFiles } from "./eval-files.ts";
import { ignoreHint } from "./ignore-hint.ts";
import { rememberHere, rememberServer } from "./last-place.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { isBaseline, namedBaseline } from "./named-baseline.ts";
import { demandsOf, outcomeOf } from "./outcome-of.ts";
import type { OwnAgent } from "./own-agent.ts";
import { progressBar } from "./progress-bar.ts";
import { reportText } from "./report-text.ts";
import { checkResuming, resumeEval } from "./resume-eval.ts";
import { type NamedSuite, placesOf, suiteGiven } from "./suite-argument.ts";

type EvalRunCall = Call<typeof EVAL_RUN_FLAGS>;
type EvalRunFlags = FlagValues<typeof EVAL_RUN_FLAGS>;

/** All that can be refused is refused before anything is called. */
export async function evalRun(call: EvalRunCall): Promise<number> {
  const { args, flags, io } = call;
  const demands = demandsOf(flags);
  checkResuming(flags);
  if (demands.requireVerdict && flags.baseline === undefined && flags.resume === undefined) {
    refuse("--require-verdict needs --baseline");
  }
  checkFiles(flags);
  const own = ownAgentOf(flags);
  const suite = await suiteGiven(args[0] ?? "", call);
  const { baseline } = flags;
  const baselineFile =
    baseline !== undefined && isBaselineFile(baseline) ? await loadBaselineFile(baseline) : undefined;
  const configurable = configurableOf(flags, own, baselineFile);
  let left = "The evaluation had not begun; there is no verdict.";
  const hint = () => left;
  return interruptible(io, hint, async (signal) => {
    const { backend, agentId } = await backendFor(call, own, suite);
    const { client } = backend;
    try {
      const isKept = suite.file === undefined || flags.resume !== undefined;
      const note = isKept ? undefined : await backend.keepSuite(suite.loaded);
      if (note !== undefined) io.err(`assay: ${note}`);
      const evalSuiteRef = suite.file === undefined ? suite.ref : refText(suite.loaded.suite);
      const { suiteId } = parseSuiteRef(evalSuiteRef);
      const started = (async () => {
        if (flags.resume !== undefined) return resumeEval(backend, flags.resume, { suite, suiteId, agentId });
        if (baselineFile !== undefined) await client.evals.keepBaselineFile(baselineFile.sha256, baselineFile);
        const { baseline: name, ...rest } = configurable;
        const compared = name === undefined ? {} : await baselineNamed(client, suiteId, name);
        const tasks = await tasksOf(client, suite, flags);
        const request = { evalSuiteRef, agentId, configurable: { ...rest, ...compared, ...tasks } };
        return (await client.runs.start({ mode: "eval", ...request })).runId;
      })();
      const runId = await orNearest(started, {
        baseline: { ...namedBaseline(client, suiteId, baseline ?? ""), hint: SET_BASELINE },
        agent: { name: agentId, names: backend.agentIds, ...(wantsServer(call) ? {} : { hint: BRING_AGENTS }) },
        suite: { name: evalSuiteRef, names: async () => suiteNames(await suitesOf(client), evalSuiteRef) },
      });
      const told = io.errIsTerminal ? await barFor(client, runId, call) : undefined;
      rememberPlace(call, own);
      left = interruptText(backend, runId, call);
      await backend.untilEnded(runId, told, signal).catch(async (error: unknown) => {
        if (signal.aborted && backend.afterInterrupt === "cancelled") await cancelInterrupted(client, runId);
        throw error;
      });
      const outcome = await outcomeOf(backend, runId, demands);
      const places = suite.file === undefined || suite.isFetched ? {} : { places: placesOf(suite.loaded, suite.file) };
      io.out(call.json ? jsonText(outcome, flags) : reportText(outcome, io.paint));
      if (outcome.conclusion.verdict === "unreachable" && own?.type === "command" && /\s/.test(own.program)) {
        io.err("assay: --command takes the program alone; its arguments go with --arg.");
      }
      await writeFiles({ ...outcome, ...places }, flags);
      return outcome.conclusion.exitCode;
    } catch (error) {
      throw ofEvaluations(error, isOnServer(call, own) ? undefined : "here");
    } finally {
      await backend.close();
    }
  });
}

const SET_BASELINE = "Set one with: assay eval baseline set NAME --latest";
const BRING_AGENTS = "Bring it with --packs DIR, or bind it in a file and name that with --agents FILE.";

/** Refused here where there is none, before anything is called. `latest` is the newest evaluation, unless a baseline is called so. */
async function baselineNamed(client: Client, suiteId: string, name: string): Promise<EvalConfigurable> {
  if (name === LATEST && !(await isBaseline(client, suiteId, name))) {
    return { baselineRunId: await evalNamed(client, name, { suiteId, status: "completed" }) };
  }
  await client.evals.baseline(suiteId, name);
  return { baseline: name };
}

async function tasksOf(client: Client, suite: NamedSuite, flags: EvalRunFlags): Promise<{ taskIds?: string[] }> {
  if (flags.task.length === 0 && flags.failedIn === undefined) return {};
  const { tasks, suiteId } = suite.file === undefined ? await client.suites.get(suite.ref) : suite.loaded.suite;
  return { taskIds: await chosenTasks(client, { tasks, suiteId }, flags) };
}

/** So that the commands after this one look where it kept its result. */
function rememberPlace(call: EvalRunCall, own: OwnAgent | undefined): void {
  const { data, databaseUrl } = ownConfig(call);
  if (isOnServer(call, own)) rememberServer(data);
  else if (databaseUrl === undefined) rememberHere(data);
}

function interruptText({ afterInterrupt }: EvalBackend, runId: string, { config }: EvalRunCall): string {
  if (afterInterrupt === "cancelled") {
    return "The evaluation was cancelled; there is no verdict. What was done is in: assay eval show";
  }
  if (afterInterrupt === "goes on") {
    return `The evaluation goes on at ${config.url}. Wait for it with the same command and --resume ${runId}, or stop it with: assay run cancel ${runId}`;
  }
  return `There is no verdict, and no file was written. Go on with: assay eval run SUITE --resume ${runId}, and the same agent; tasks that have their score are not run again.`;
}

async function barFor(client: Client, runId: string, { io }: EvalRunCall): Promise<(scored: number) => void> {
  const { taskCount } = await client.evals.get(runId);
  return (scored) => io.progress(progressBar(scored, taskCount));
}

function ownAgentOf({ agent, command, http, arg }: EvalRunFlags): OwnAgent | undefined {
  const named = [agent, command, http].filter((one) => one !== undefined);
  if (named.length !== 1) {
    const how = "--agent ID, --command PROGRAM or --http URL";
    refuse(named.length === 0 ? `say what to evaluate: ${how}` : `use one of ${how}`);
  }
  if (arg.length > 0 && command === undefined) refuse("--arg goes with --command");
  if (named[0] === "") refuse("what is to be evaluated has no name");
  if (command !== undefined) return { type: "command", program: command, args: arg };
  return http === undefined ? undefined : { type: "http", url: http };
}

function baselineOf(named: string | undefined, file: BaselineFile | undefined): EvalConfigurable {
  if (file !== undefined) return { baselineFileSha256: file.sha256 };
  if (named === undefined) return {};
  return named.startsWith("run-") ? { baselineRunId: named } : { baseline: named };
}

function configurableOf(
  flags: EvalRunFlags,
  own: OwnAgent | undefined,
  file: BaselineFile | undefined,
): EvalConfigurable {
  const { baseline, trials, concurrency, mode, retryErrors, cache, agentVersion, anyAgent } = flags;
  if (own === undefined && flags.timeout !== undefined) {
    refuse("--timeout goes with --command or --http; for other agents it is in the agents file");
  }
  if (cache && own !== undefined && agentVersion === undefined) {
    refuse("--cache needs --agent-version here: nobody else can tell whether the agent is still the same");
  }
  const version = agentVersion === undefined ? {} : { agentLabel: agentVersion };
  return {
    ...baselineOf(baseline, file),
    ...version,
    ...(own === undefined && agentVersion !== undefined ? { agentVersion } : {}),
    ...(mode.length === 0 ? {} : { evalModes: modesOf(split(mode)) }),
    ...(trials === undefined ? {} : { trials }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(retryErrors === undefined ? {} : { retryErrors }),
    ...(flags.budgetUsd === undefined ? {} : { budgetUsd: dollars("--budget-usd", flags.budgetUsd) }),
    ...(cache ? { cache } : {}),
    ...(anyAgent ? { anyAgent } : {}),
    ...(flags.requireCertificate ? { requireCertificate: true } : {}),
    ...(flags.allowMissing.length === 0 ? {} : { allowMissing: [...new Set(split(flags.allowMissing))] }),
    ...verbosityOf(flags.reasoning),
  };
}

function verbosityOf(word: string | undefined): Pick<EvalConfigurable, "reasoningVerbosity"> {
  const reasoningVerbosity = REASONING_VERBOSITIES.find((one) => one === word);
  return reasoningVerbosity === undefined ? {} : { reasoningVerbosity };
}

function modesOf(words: readonly string[]): EvalMode[] {
  const unknown = words.find((word) => !EVAL_MODES.some((mode) => mode === word));
  if (unknown !== undefined) refuse(`--mode takes ${EVAL_MODES.join(", ")}, and not ${unknown}`);
  return [...new Set(words)] as EvalMode[];
}

interface ChosenBackend {
  readonly backend: EvalBackend;
  readonly agentId: string;
}

async function backendFor(call: EvalRunCall, own: OwnAgent | undefined, suite: NamedSuite): Promise<ChosenBackend> {
  const { flags, given, config, io } = call;
  if (own !== undefined && given.has("url")) {
    refuse(`--${own.type} runs here and not on a server; leave --url out, or bind the agent there and use --agent`);
  }
  if (wantsServer(call) && own !== undefined) io.err(`assay: --${own.type} runs here, and not on ${config.url}.`);
  const server = isOnServer(call, own);
  if (!call.json)
    io.err(`assay: evaluating ${server ? `at ${config.url}` : `here; results are kept ${keptText(call)}`}`);
  if (server) {
    const { serverBackend } = await import("./server-backend.ts");
    return { backend: serverBackend(config), agentId: flags.agent ?? "" };
  }
  const { ownBackend } = await import("./own-backend.ts");
  const chosen = ownConfig(call);
  const hint = chosen.databaseUrl === undefined ? ignoreHint(chosen.data) : undefined;
  if (hint !== undefined) io.err(`assay: ${hint}.`);
  const backend = await ownBackend(chosen, io, {
    own,
    // What a suite was made for is what is evaluated with it, whatever it is called by.
    agentId: suite.file === undefined || flags.anyAgent ? undefined : suite.loaded.suite.targetAgentId,
    version: flags.agentVersion,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
  });
  return { backend, agentId: backend.agentId ?? flags.agent ?? "" };
}

/** A server cannot be asked to run a program that is here. */
function isOnServer(call: EvalRunCall, own: OwnAgent | undefined): boolean {
  return own === undefined && wantsServer(call);
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
