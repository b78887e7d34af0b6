import type { EvalNotRun, EvalReport, NotRunReason } from "../../protocol/evals/api.ts";

const TEXTS: Readonly<Record<NotRunReason, (mode: string) => string>> = {
  no_judge: () => "no judge is configured",
  no_baseline: () => "it needs a baseline",
  not_named: () => "it runs only when named",
  not_asked: (mode) => `mode ${mode} was not asked for`,
  not_chosen: () => "other tasks were chosen",
};

/** Why a mode, or a task in it, was not run. */
export function notRunText(reason: NotRunReason, mode: string): string {
  return TEXTS[reason](mode);
}

/** What the host could not do comes before what the caller left out. */
const RANK: readonly NotRunReason[] = ["no_judge", "not_chosen", "not_asked", "no_baseline", "not_named"];

/** Tasks of the suite that were run in no mode, each with the mode and reason that say most. */
export function tasksNotRun({ notRun }: Pick<EvalReport, "notRun">): Map<string, Pick<EvalNotRun, "mode" | "reason">> {
  const tasks = new Map<string, Pick<EvalNotRun, "mode" | "reason">>();
  for (const { taskIds, mode, reason } of [...notRun].sort((a, b) => RANK.indexOf(a.reason) - RANK.indexOf(b.reason))) {
    for (const taskId of taskIds) if (!tasks.has(taskId)) tasks.set(taskId, { mode, reason });
  }
  return tasks;
}
