import { type Difference, differenceLines } from "../../evals/score/difference.ts";
import { figure } from "../../formats/evals/eval-outcome.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { EvalEntry } from "../../protocol/evals/baselines.ts";
import type { EvalTaskBodies, EvalTrialBody, ToolCallBody } from "../../protocol/evals/eval-task-bodies.ts";
import { formatCount } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable, printableJson } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { orNearest } from "../program/nearest-name.ts";
import { withBackend } from "./backend.ts";
import type { EVAL_FILES_FLAGS, EVAL_LIST_FLAGS } from "./commands.ts";
import { evalNamed, LATEST } from "./latest-eval.ts";
import { checkFiles, jsonText, NO_DEMANDS, outcomeOf, reportOf, writeFiles } from "./outcome.ts";
import { reportText } from "./report-text.ts";

export async function evalShow(call: Call<typeof EVAL_FILES_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  checkFiles(flags);
  const [, taskId] = args;
  if (taskId !== undefined) return showTask(call, taskId);
  await withBackend(call, "reads", async (backend) => {
    const outcome = await outcomeOf(backend, await evalNamed(backend.client, args[0] ?? LATEST), NO_DEMANDS);
    if (json) io.out(jsonText(outcome, flags));
    else io.out(reportText(outcome, io.paint));
    await writeFiles(outcome, flags);
  });
}

/** Prints one task. The files of an evaluation have no form for one task, so they are refused. */
async function showTask(call: Call<typeof EVAL_FILES_FLAGS>, taskId: string): Promise<undefined> {
  const { args, flags, json, io } = call;
  if ([flags.output, flags.junit, flags.md, flags.sarif].some((file) => file !== undefined)) {
    throw unusableInput("--output, --junit, --md and --sarif go without TASK; use --json for one task");
  }
  await withBackend(call, "reads", async ({ client }) => {
    const runId = await evalNamed(client, args[0] ?? LATEST);
    const names = async () => (await reportOf(client, runId)).tasks.map((task) => task.taskId);
    const task = await orNearest(client.evals.task(runId, taskId), { task: { name: taskId, names } });
    io.out(json ? JSON.stringify(task) : taskText(task, io.paint));
  });
}

const SHOWN = 50;

export async function evalList(call: Call<typeof EVAL_LIST_FLAGS>): Promise<undefined> {
  const { suite: suiteId } = call.flags;
  const { evals, interrupted } = await withBackend(call, "reads", async ({ client, isInterrupted }) => {
    const { evals } = await client.evals.list({ limit: SHOWN, suiteId });
    const interrupted = new Set<EvalEntry>();
    for (const entry of evals) if (await isInterrupted(entry)) interrupted.add(entry);
    return { evals, interrupted };
  });
  const which = suiteId === undefined ? "" : ` with suite ${printable(suiteId)}`;
  const answer = { evals };
  printList(call, evals, answer, {
    empty: `No evaluations${which} yet. Start one with: assay eval run`,
    headings: ["RUN", "SUITE", "AGENT", "STARTED", "PASSED", "RESULT"],
    row: (entry) =>
      [
        entry.runId,
        `${entry.suiteId}@${entry.suiteVersion}`,
        `${entry.agentId}@${entry.resolvedAgentVersion}`,
        entry.startedAt.slice(0, 19).replace("T", " "),
        entry.passedCount === undefined ? "–" : `${entry.passedCount}/${entry.taskCount}`,
        interrupted.has(entry) ? "interrupted; resume it with eval run --resume" : resultOf(entry),
      ].map(printable),
  });
}

/** Names the bars of the suite and the change against the baseline separately: meeting the bars does not mean that nothing got worse. */
function resultOf({ status, passed, error, scoreDelta, baselineFileSha256 }: EvalEntry): string {
  if (status !== "completed") return error === undefined ? status : `${status}: ${error}`;
  const bars = passed ? "meets its bars" : "does not meet its bars";
  if (scoreDelta === undefined) return bars;
  const baseline = baselineFileSha256 === undefined ? "the baseline" : "the imported baseline";
  const change = scoreDelta === 0 ? `score as in ${baseline}` : `score ${signed(scoreDelta)} on ${baseline}`;
  return `${bars}; ${change}`;
}

function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${figure(value)}`;
}

/** One task of an evaluation as text: its input, and the output, reasoning and tool calls of each trial. */
export function taskText(task: EvalTaskBodies, paint: Paint): string {
  const { suiteId, suiteVersion, taskId, agentId, resolvedAgentVersion, runId, input, trials } = task;
  const what = `${suiteId}@${suiteVersion}  ${taskId}  ${agentId} ${resolvedAgentVersion}`;
  const score = `score ${figure(task.score)}, passes with ${figure(task.bar)}`;
  const parts = [
    [`${paint.bold(printable(what))}  ${paint.dim(printable(runId))}`, `${mark(task.passed, paint)} ${score}`],
    section("Input", valueLines(input), paint),
    expectedLines(task, paint),
    ...fixtureLines(task, paint),
    ...trials.map((trial) => trialLines(trial, paint)),
  ];
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

function expectedLines({ expected }: EvalTaskBodies, paint: Paint): string[] {
  if (expected.kind === "golden") {
    return section(`Expected (${expected.match.strategy})`, valueLines(expected.match.value), paint);
  }
  const criteria = expected.rubric.map(({ criterion, weight }) => `${figure(weight)}  ${printable(criterion)}`);
  return section("Expected (rubric)", criteria, paint);
}

function fixtureLines({ fixtures }: EvalTaskBodies, paint: Paint): string[][] {
  const answers = (fixtures?.toolResponses ?? []).map(
    ({ tool, response }) => `${printable(tool)} → ${printableJson(response)}`,
  );
  const seed = (fixtures?.memorySeed ?? []).map((memory) => `memory ${printableJson(memory)}`);
  const lines = [...answers, ...seed];
  return lines.length === 0 ? [] : [section("Fixtures", lines, paint)];
}

function trialLines(trial: EvalTrialBody, paint: Paint): string[] {
  const { passed, score, error, cached, retries, latencyMs, costUsd, toolCalls, toolCallsLeftOut = 0 } = trial;
  const figures = [
    score === undefined ? "no score" : `score ${figure(score)}`,
    `${latencyMs} ms`,
    ...(costUsd === undefined || costUsd === 0 ? [] : [`${costUsd} USD`]),
    ...(retries === 0 ? [] : [`tried ${formatCount(retries + 1, "time")}`]),
    ...(cached ? ["from the cache"] : []),
  ];
  const calls = toolCalls.flatMap((call, i) => callLines(call, i + 1, paint));
  const more = toolCallsLeftOut === 0 ? [] : [`… and ${formatCount(toolCallsLeftOut, "more call")} that were not kept`];
  const { difference } = trial;
  const name = `Trial ${trial.trial}${trial.mode === undefined ? "" : ` of mode ${trial.mode}`}`;
  return [
    `${mark(passed, paint)} ${paint.bold(name)}  ${figures.join(", ")}  ${paint.dim(printable(trial.invocationId))}`,
    ...within("Error", error === undefined ? [] : textLines(`${error.code}: ${error.message}`), paint),
    ...within("Output", trial.output === undefined ? [] : valueLines(trial.output), paint),
    ...within("Difference", difference === undefined ? [] : differenceText(difference), paint),
    ...within("Reasoning", trial.reasoning === undefined ? [] : textLines(trial.reasoning), paint),
    ...within("Tool calls", [...calls, ...more], paint),
    ...within("Judge", criteriaLines(trial, paint), paint),
    ...within("Findings", findingLines(trial), paint),
  ];
}

/** A difference as lines, or as JSON where a server of another version sends another form. */
function differenceText(value: unknown): string[] {
  return isDifference(value) ? differenceLines(value).map(printable) : valueLines(value);
}

function isDifference(value: unknown): value is Difference {
  const { kind, summary, changes, diff, ...words } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof summary !== "string") return false;
  if (kind === "json") return Array.isArray(changes);
  if (kind === "lines") return typeof diff === "string";
  const isWords = ["before", "expected", "output", "after"].every((name) => typeof words[name] === "string");
  return kind === "none" || (kind === "words" && isWords);
}

function callLines({ tool, arguments: args, result, error }: ToolCallBody, place: number, paint: Paint): string[] {
  const asked = args === undefined ? "" : ` ${printableJson(args)}`;
  const answer =
    error === undefined
      ? `   → ${printableJson(result ?? null)}`
      : `   ${paint.red("✗")} ${printable(`${error.code}: ${error.message}`)}`;
  return [`${place}. ${printable(tool)}${asked}`, answer];
}

function criteriaLines({ criteria = [] }: EvalTrialBody, paint: Paint): string[] {
  return criteria.map(
    ({ criterion, met, evidence }) => `${mark(met, paint)} ${printable(`${criterion}: ${evidence}`)}`,
  );
}

function findingLines({ findings }: EvalTrialBody): string[] {
  return findings.map(({ kind, severity, by, note }) =>
    printable(`${kind} (${severity}), noticed by ${by}${note === undefined ? "" : `: ${note}`}`),
  );
}

function mark(passed: boolean, paint: Paint): string {
  return passed ? paint.green("✓") : paint.red("✗");
}

function valueLines(value: unknown): string[] {
  return textLines(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""));
}

function textLines(text: string): string[] {
  return text.split("\n").map(printable);
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return [paint.bold(title), ...lines.map((line) => `  ${line}`)];
}

function within(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length === 0 ? [] : section(title, lines, paint).map((line) => `  ${line}`);
}
