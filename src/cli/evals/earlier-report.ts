import type { EvalReport } from "../../protocol/evals/api.ts";
import type { Comparison } from "../../protocol/evals/eval-statistics.ts";

type Task = EvalReport["tasks"][number];
type Later = "modeFigures" | "notRun" | "warnings" | "tasks" | "baseline";

/** A report as servers gave it before each mode was a pass of its own. */
export type AnyReport = Omit<EvalReport, Later> &
  Partial<Pick<EvalReport, "modeFigures" | "notRun" | "warnings">> & {
    readonly tasks: readonly (Omit<Task, "passes"> & Partial<Pick<Task, "passes">>)[];
    readonly baseline?: Omit<NonNullable<EvalReport["baseline"]>, "comparison"> & {
      readonly comparison: (Omit<Comparison, "unpairedModes"> & Partial<Pick<Comparison, "unpairedModes">>) | null;
    };
  };

/**
 * A report of a server of any version. What an earlier one did not record is empty, with the meaning that it had: one pass for all modes.
 * How many tasks were not run is known of such a report, and why is not.
 */
export function readableReport(report: AnyReport): EvalReport {
  const { modeFigures = [], notRun = [], warnings = [], tasks, baseline, ...rest } = report;
  return {
    ...rest,
    modeFigures,
    notRun,
    warnings,
    tasks: tasks.map(({ passes = [], ...task }) => ({ ...task, passes })),
    ...(baseline === undefined ? {} : { baseline: { ...baseline, comparison: readable(baseline.comparison) } }),
  };
}

function readable(comparison: NonNullable<AnyReport["baseline"]>["comparison"]): Comparison | null {
  if (comparison === null) return null;
  const { unpairedModes = { candidate: [], baseline: [] }, ...rest } = comparison;
  return { ...rest, unpairedModes };
}
