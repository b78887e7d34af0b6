import type { EvalNotRun, NotRunReason } from "../../protocol/evals/api.ts";
import type { AgentEvalSuite, EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { TaskResult as ComparedTask } from "../../statistics/pair-tasks.ts";
import { tasksOfModes } from "./chosen-modes.ts";
import type { EvalPlan } from "./eval-plan.ts";

/** Reasons that are the caller's choice. */
const BY_CHOICE: readonly NotRunReason[] = ["not_asked", "not_chosen"];
/** Modes that repeat tasks of other modes, against a baseline or with live tools: never missing where the caller left them out. */
const REPEATING: readonly EvalMode[] = ["regression", "live-shadow"];

/** The parts of the suite that an evaluation does not run, by mode and reason, and how many of them a verdict needs. */
export function notRunOf(plan: EvalPlan, suite: AgentEvalSuite, baseline: readonly ComparedTask[]): EvalNotRun[] {
  const ran = new Set(plan.taskIds);
  const before = new Map(baseline.map((task) => [task.taskId, task]));
  return suite.modes.flatMap((mode) => {
    const tasks = tasksOfModes(suite, [mode]).filter(({ taskId }) => !plan.modes.includes(mode) || !ran.has(taskId));
    const isChosen = (task: EvalTask) => plan.tasksChosen !== true || ran.has(task.taskId);
    const reason = reasonOf(plan, mode);
    return [
      { reason, tasks: tasks.filter(isChosen) },
      { reason: "not_chosen" as const, tasks: tasks.filter((task) => !isChosen(task)) },
    ]
      .filter((entry) => entry.tasks.length > 0)
      .map((entry) => entryOf(plan, mode, { ...entry, ran }, before));
  });
}

/** Plans of earlier versions do not say why: what they left out counts as left out by choice, as it did then. */
function reasonOf({ modes, modesNotRun = [], tasksChosen, baselineRunId }: EvalPlan, mode: EvalMode): NotRunReason {
  if (modes.includes(mode)) return tasksChosen === false ? "no_judge" : "not_chosen";
  const recorded = modesNotRun.find((one) => one.mode === mode)?.reason;
  return recorded ?? (mode === "regression" && baselineRunId === undefined ? "no_baseline" : "not_asked");
}

interface LeftOut {
  readonly reason: NotRunReason;
  readonly tasks: readonly EvalTask[];
  /** Tasks that were run in some mode. */
  readonly ran: ReadonlySet<string>;
}

function entryOf(
  { allowMissing = [] }: EvalPlan,
  mode: EvalMode,
  { reason, tasks, ran }: LeftOut,
  baseline: ReadonlyMap<string, ComparedTask>,
): EvalNotRun {
  const ids = tasks.map(({ taskId }) => taskId);
  // Only tasks with a rubric need a judge: without one they are missing in every mode.
  const modes: EvalMode[] = reason === "no_judge" ? [mode, "rubric"] : [mode];
  const needed = modes.some((one) => allowMissing.includes(one))
    ? []
    : ids.filter((taskId) => !allowMissing.includes(taskId));
  const isCompared = BY_CHOICE.includes(reason) && !REPEATING.includes(mode);
  const inNoMode = ids.filter((taskId) => !ran.has(taskId));
  const isInBaseline = (taskId: string) => {
    const { passes = [] } = baseline.get(taskId) ?? {};
    if (passes.length > 0) return passes.some((pass) => pass.mode === mode);
    return baseline.has(taskId) && !ran.has(taskId);
  };
  return {
    mode,
    reason,
    taskCount: ids.length,
    taskIds: inNoMode,
    missing: reason === "no_judge" ? needed.length : 0,
    missingFromBaseline: isCompared ? needed.filter(isInBaseline).length : 0,
  };
}
