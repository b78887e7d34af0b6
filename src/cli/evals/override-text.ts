import { figure } from "../../formats/evals/eval-outcome.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { EvalOverride } from "../../protocol/evals/eval-override.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";

const TASKS_SHOWN = 20;

/** What people say of an evaluation beside what it came to; nothing where nobody said anything. */
export function overrideLines({ override, passed, aggregateScore, complete }: EvalReport, paint: Paint): string[] {
  const { tasks, disputed } = override;
  if (tasks.length === 0 && disputed.length === 0) return [];
  const lines = [...tasks.map((task) => taskLine(task, paint)), ...disputed.map((task) => disputeLine(task, paint))];
  const left = lines.length - TASKS_SHOWN;
  return [
    paint.bold("What people say"),
    ...lines.slice(0, TASKS_SHOWN),
    ...(left > 0 ? [paint.dim(`  … and ${left} more; --json lists them`)] : []),
    ...(tasks.length === 0
      ? []
      : [
          `  score ${figure(aggregateScore)} → ${figure(override.aggregateScore)}${complete ? change(passed, override.passed) : ""}`,
        ]),
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

/** Of the bars alone: the verdict, which may rest on a baseline too, is not changed by what people say. */
function change(before: boolean, after: boolean): string {
  const word = (passed: boolean) => (passed ? "met" : "not met");
  return `, the suite's bars ${before === after ? `${word(after)} either way` : `${word(before)} → ${word(after)}`}`;
}
