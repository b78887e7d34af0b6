import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { type EvalConfigurable, REASONING_VERBOSITIES } from "../../protocol/evals/api.ts";
import type { BaselineFile } from "../../protocol/evals/baselines.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { EVAL_MODES, type EvalMode } from "../../protocol/evals/eval-suite.ts";
import type { Client } from "../client/client.ts";
import { dollars, split } from "../files/arguments.ts";
import type { FlagValues } from "../program/command.ts";
import type { EVAL_RUN_FLAGS } from "./commands.ts";
import { evalNamed } from "./latest-eval.ts";
import { reportOf } from "./outcome.ts";
import type { OwnAgent } from "./own-agent.ts";

type EvalRunFlags = FlagValues<typeof EVAL_RUN_FLAGS>;

/** The agent of the flags, unless it is one that is installed or bound. */
export function ownAgentOf({ agent, command, http, arg }: EvalRunFlags): OwnAgent | undefined {
  const named = [agent, command, http].filter((one) => one !== undefined);
  if (named.length !== 1) {
    const how = "--agent ID, --command PROGRAM or --http URL";
    throw unusableInput(named.length === 0 ? `say what to evaluate: ${how}` : `use one of ${how}`);
  }
  if (arg.length > 0 && command === undefined) throw unusableInput("--arg goes with --command");
  if (named[0] === "") throw unusableInput("--agent, --command and --http need a value that is not empty");
  if (command !== undefined) return { type: "command", program: command, args: arg };
  return http === undefined ? undefined : { type: "http", url: http };
}

/** The options of a new evaluation, except for its tasks. */
export function configurableOf(
  flags: EvalRunFlags,
  own: OwnAgent | undefined,
  file: BaselineFile | undefined,
): EvalConfigurable {
  const { trials, concurrency, mode, retryErrors, budgetUsd, cache, agentVersion, anyAgent } = flags;
  if (own === undefined && flags.timeout !== undefined) {
    throw unusableInput("--timeout goes with --command or --http; for other agents it is in the agents file");
  }
  if (cache && own !== undefined && agentVersion === undefined) {
    throw unusableInput(
      "--cache needs --agent-version here: without it a changed agent cannot be told from the same one",
    );
  }
  return defined({
    ...baselineOf(flags.baseline, file),
    agentLabel: agentVersion,
    agentVersion: own === undefined ? agentVersion : undefined,
    evalModes: mode.length === 0 ? undefined : [...new Set(split(mode).map(modeOf))],
    trials,
    concurrency,
    retryErrors,
    budgetUsd: budgetUsd === undefined ? undefined : dollars("--budget-usd", budgetUsd),
    cache: cache || undefined,
    anyAgent: anyAgent || undefined,
    requireCertificate: flags.requireCertificate || undefined,
    allowMissing: flags.allowMissing.length === 0 ? undefined : [...new Set(split(flags.allowMissing))],
    reasoningVerbosity: REASONING_VERBOSITIES.find((one) => one === flags.reasoning),
  });
}

function baselineOf(named: string | undefined, file: BaselineFile | undefined): EvalConfigurable {
  if (file !== undefined) return { baselineFileSha256: file.sha256 };
  if (named === undefined) return {};
  return named.startsWith("run-") ? { baselineRunId: named } : { baseline: named };
}

function modeOf(word: string): EvalMode {
  const mode = EVAL_MODES.find((one) => one === word);
  if (mode === undefined) throw unusableInput(`--mode takes ${EVAL_MODES.join(", ")}, and not ${word}`);
  return mode;
}

/** The flags that are fixed when an evaluation starts, and so do not go with `--resume`. */
const FIXED = [
  "baseline",
  "trials",
  "concurrency",
  "mode",
  "task",
  "failedIn",
  "retryErrors",
  "budgetUsd",
  "cache",
  "requireCertificate",
  "allowMissing",
  "reasoning",
] as const satisfies readonly (keyof EvalRunFlags)[];

export function checkResuming(flags: EvalRunFlags): void {
  if (flags.resume === undefined) return;
  const given = FIXED.find((name) => isGiven(flags[name]));
  if (given === undefined) return;
  const flag = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw unusableInput(
    `--resume continues an evaluation with the options that it was started with; leave --${flag} out`,
  );
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** The tasks that `--task` and `--failed-in` select, by id, by pattern or by their result before. */
export async function selectedTasks(
  client: Client,
  { suiteId, tasks }: Pick<AgentEvalSuite, "suiteId" | "tasks">,
  { task, failedIn }: Pick<EvalRunFlags, "task" | "failedIn">,
): Promise<string[]> {
  const all = tasks.map(({ taskId }) => taskId);
  const failed = failedIn === undefined ? undefined : new Set(await failedTasks(client, suiteId, failedIn));
  const patterns = split(task).map((text) => ({ text, pattern: patternOf(text) }));
  if (task.length > 0 && patterns.length === 0) throw unusableInput("--task names no task");
  for (const { text, pattern } of patterns) {
    if (all.some((taskId) => pattern.test(taskId))) continue;
    const nearest = closestTo(text, all);
    throw unusableInput(`the suite has no task ${text}${nearest === undefined ? "" : `. Did you mean ${nearest}?`}`);
  }
  const selected = all.filter(
    (taskId) =>
      (patterns.length === 0 || patterns.some(({ pattern }) => pattern.test(taskId))) &&
      (failed === undefined || failed.has(taskId)),
  );
  if (selected.length > 0) return selected;
  throw unusableInput(
    patterns.length === 0
      ? `none of the tasks that did not pass in ${failedIn} is in the suite`
      : "no task is left to evaluate",
  );
}

async function failedTasks(client: Client, suiteId: string, named: string): Promise<string[]> {
  const runId = await evalNamed(client, named, { suiteId, status: "completed" });
  const report = await reportOf(client, runId);
  if (report.suiteId !== suiteId) throw unusableInput(`${runId} is of suite ${report.suiteId}, and not of ${suiteId}`);
  if (!report.complete) throw unusableInput(`${runId} did not complete; name its tasks with --task`);
  const failed = report.tasks.filter(({ passed }) => !passed).map(({ taskId }) => taskId);
  if (failed.length === 0) throw unusableInput(`every task passed in ${runId}; nothing is left to evaluate`);
  return failed;
}

/** An asterisk matches any characters. */
function patternOf(text: string): RegExp {
  const parts = text.split(/\*+/).map((part) => part.replace(/[.\\+?^${}()|[\]]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
