import { figure } from "../../formats/evals/eval-outcome.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { EvalOverride, JudgeTaskRequest } from "../../protocol/evals/eval-override.ts";
import { textArgument } from "../files/arguments.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { firstLines } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { withBackend } from "./backend.ts";
import type { EVAL_OVERRIDE_FLAGS } from "./commands.ts";
import { evalNamed } from "./latest-eval.ts";
import { reportOf } from "./outcome.ts";

export async function evalOverride(call: Call<typeof EVAL_OVERRIDE_FLAGS>): Promise<undefined> {
  const { args, json, io } = call;
  const [named = "", taskId = "", verdict] = args;
  const request = requestOf(verdict, call.flags);
  await withBackend(call, "writes", async ({ client }) => {
    const runId = await evalNamed(client, named);
    const view = await client.evals.judgeTask(runId, taskId, request);
    if (json) return io.out(JSON.stringify(view));
    io.out(view.annotationId);
    const { status } = await client.evals.get(runId);
    if (status === "completed") for (const line of overrideLines(await reportOf(client, runId), io.paint)) io.err(line);
  });
}

function requestOf(verdict: string | undefined, flags: Call<typeof EVAL_OVERRIDE_FLAGS>["flags"]): JudgeTaskRequest {
  const { rating, correction, flag, note, supersedes } = flags;
  const label = (["pass", "fail"] as const).find((one) => one === verdict);
  if (label !== verdict) throw unusableInput(`a verdict is pass or fail, and not ${verdict}`);
  const given = [verdict, rating, correction, flag || undefined].filter((one) => one !== undefined);
  if (given.length !== 1) throw unusableInput("give one of pass, fail, --rating N, --correction TEXT or --flag");
  return defined({
    label,
    rating: rating === undefined ? undefined : Number(rating),
    correction: correction === undefined ? undefined : textArgument(correction, "--correction"),
    flag: flag || undefined,
    note,
    supersedes,
  });
}

const TASKS_SHOWN = 20;

/** The overrides and disputes of an evaluation, next to its own result. Empty where there are none. */
export function overrideLines({ override, passed, aggregateScore, complete }: EvalReport, paint: Paint): string[] {
  const { tasks, disputed } = override;
  if (tasks.length === 0 && disputed.length === 0) return [];
  const lines = [...tasks.map((task) => taskLine(task, paint)), ...disputed.map((task) => disputeLine(task, paint))];
  const bars = complete ? change(passed, override.passed) : "";
  const scores = `  score ${figure(aggregateScore)} → ${figure(override.aggregateScore)}${bars}`;
  return [
    paint.bold("What people say"),
    ...firstLines(lines, TASKS_SHOWN, (left) => paint.dim(`  … and ${left} more; --json lists them`)),
    ...(tasks.length === 0 ? [] : [scores]),
  ];
}

function taskLine(
  { taskId, original, overridden, by, adjudicated }: EvalOverride["tasks"][number],
  paint: Paint,
): string {
  const mark = overridden.passed ? paint.green("✓") : paint.red("✗");
  const who = `by ${by}${adjudicated ? ", adjudicated" : ""}`;
  const held = overridden.score >= 1 && !overridden.passed ? "; a finding keeps it from passing" : "";
  return `  ${mark} ${printable(taskId)}: ${figure(original.score)} → ${figure(overridden.score)} ${paint.dim(printable(who))}${held}`;
}

function disputeLine({ taskId, said }: EvalOverride["disputed"][number], paint: Paint): string {
  const words = said.map(({ kind, by }) => `${kind} by ${by}`).join(", ");
  return `  ${paint.yellow("?")} ${printable(taskId)}: disputed ${paint.dim(printable(words))}`;
}

/** Only the bars of the suite: overrides do not change the verdict, which may depend on a baseline too. */
function change(before: boolean, after: boolean): string {
  const word = (passed: boolean) => (passed ? "met" : "not met");
  return `, the suite's bars ${before === after ? `${word(after)} either way` : `${word(before)} → ${word(after)}`}`;
}
