import { refText } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalConfigurable } from "../../protocol/eval-api.ts";
import { EVAL_MODES, type EvalMode } from "../../protocol/eval-suite.ts";
import type { Call, FlagValues } from "../command.ts";
import { ownConfig, wantsServer } from "../evals/choose-home.ts";
import { checkFiles, writeFiles } from "../evals/eval-files.ts";
import type { EvalHome } from "../evals/eval-home.ts";
import { demandsOf, outcomeOf } from "../evals/outcome-of.ts";
import type { OwnAgent } from "../evals/own-agent.ts";
import { progressBar } from "../evals/progress-bar.ts";
import { reportText } from "../evals/report-text.ts";
import { type NamedSuite, namedSuite, placesOf } from "../evals/suite-argument.ts";
import { split } from "../name-list.ts";
import { interruptible } from "../reviews/interruptible.ts";
import type { EVAL_RUN_FLAGS } from "../specs/eval.ts";

type EvalRunCall = Call<typeof EVAL_RUN_FLAGS>;
type EvalRunFlags = FlagValues<typeof EVAL_RUN_FLAGS>;

/** All that can be refused is refused before anything is called. */
export async function evalRun(call: EvalRunCall): Promise<number> {
  const { args, flags, io } = call;
  const demands = demandsOf(flags);
  if (demands.requireVerdict && flags.baseline === undefined) refuse("--require-verdict needs --baseline");
  checkFiles(flags);
  const own = ownAgentOf(flags);
  const configurable = configurableOf(flags, own);
  const suite = namedSuite(args[0] ?? "", io);
  const hint = "The evaluation was cancelled; there is no verdict.";
  return interruptible(io, hint, async (signal) => {
    const { home, agentId } = await homeFor(call, own, suite);
    try {
      const note = suite.file === undefined ? undefined : await home.keepSuite(suite.loaded);
      if (note !== undefined) io.err(`assay: ${note}`);
      const evalSuiteRef = suite.file === undefined ? suite.ref : refText(suite.loaded.suite);
      const runId = await home.start({ evalSuiteRef, agentId, configurable });
      const told = io.errIsTerminal ? await barFor(home, runId, call) : undefined;
      await home.untilEnded(runId, told, signal);
      const outcome = await outcomeOf(home, runId, demands);
      const places = suite.file === undefined ? {} : { places: placesOf(suite.loaded, suite.file) };
      io.out(reportText(outcome, io.paint));
      if (outcome.conclusion.verdict === "unreachable" && own?.type === "command" && /\s/.test(own.program)) {
        io.err("assay: --command takes the program alone; its arguments go with --arg.");
      }
      await writeFiles({ ...outcome, ...places }, flags);
      return outcome.conclusion.exitCode;
    } finally {
      await home.close();
    }
  });
}

async function barFor(home: EvalHome, runId: string, { io }: EvalRunCall): Promise<(scored: number) => void> {
  const { taskCount } = await home.entry(runId);
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

function configurableOf(flags: EvalRunFlags, own: OwnAgent | undefined): EvalConfigurable {
  const { baseline, trials, concurrency, mode, task, retryErrors, cache, agentVersion, anyAgent } = flags;
  if (own === undefined && flags.timeout !== undefined) {
    refuse("--timeout goes with --command or --http; for other agents it is in the agents file");
  }
  if (cache && own !== undefined && agentVersion === undefined) {
    refuse("--cache needs --agent-version here: nobody else can tell whether the agent is still the same");
  }
  const named = baseline === undefined ? {} : baseline.startsWith("run-") ? { baselineRunId: baseline } : { baseline };
  const version = agentVersion === undefined ? {} : { agentLabel: agentVersion };
  return {
    ...named,
    ...version,
    ...(own === undefined && agentVersion !== undefined ? { agentVersion } : {}),
    ...(mode.length === 0 ? {} : { evalModes: modesOf(split(mode)) }),
    ...(task.length === 0 ? {} : { taskIds: [...new Set(split(task))] }),
    ...(trials === undefined ? {} : { trials }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(retryErrors === undefined ? {} : { retryErrors }),
    ...(flags.budgetUsd === undefined ? {} : { budgetUsd: dollars(flags.budgetUsd) }),
    ...(cache ? { cache } : {}),
    ...(anyAgent ? { anyAgent } : {}),
    ...(flags.requireCertificate ? { requireCertificate: true } : {}),
  };
}

function modesOf(words: readonly string[]): EvalMode[] {
  const unknown = words.find((word) => !EVAL_MODES.some((mode) => mode === word));
  if (unknown !== undefined) refuse(`--mode takes ${EVAL_MODES.join(", ")}, and not ${unknown}`);
  return [...new Set(words)] as EvalMode[];
}

function dollars(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) refuse(`--budget-usd must be an amount like 2.50, and not ${text}`);
  return Number(text);
}

interface ChosenHome {
  readonly home: EvalHome;
  readonly agentId: string;
}

async function homeFor(call: EvalRunCall, own: OwnAgent | undefined, suite: NamedSuite): Promise<ChosenHome> {
  const { flags, given, config, io } = call;
  if (own !== undefined && given.has("url")) {
    refuse(`--${own.type} runs here and not on a server; leave --url out, or bind the agent there and use --agent`);
  }
  const server = wantsServer(call);
  if (server && own !== undefined) io.err(`assay: --${own.type} runs here, and not on ${config.url}.`);
  if (server && own === undefined) {
    const { serverHome } = await import("../evals/server-home.ts");
    return { home: serverHome(config), agentId: flags.agent ?? "" };
  }
  const { ownHome } = await import("../evals/own-home.ts");
  const home = await ownHome(ownConfig(call), io, {
    own,
    // What a suite was made for is what is evaluated with it, whatever it is called by.
    agentId: suite.file === undefined || flags.anyAgent ? undefined : suite.loaded.suite.targetAgentId,
    version: flags.agentVersion,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
  }).catch((error: unknown) => {
    throw own === undefined ? error : elsewhere(error);
  });
  return { home, agentId: home.agentId ?? flags.agent ?? "" };
}

/** A server cannot be asked to run what is here. */
function elsewhere(error: unknown): unknown {
  if (!(error instanceof AppError && error.code === "database_in_use")) return error;
  const { path, pid } = error.details;
  const problem = `${path} is in use by process ${pid}; keep the results elsewhere with --data DIR, or bind the agent on that server and use --agent with --url`;
  return new AppError("unusable_input", { problem });
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
