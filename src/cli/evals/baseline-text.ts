import type { EvalBaseline } from "../../protocol/evals/eval-baseline.ts";

/** A baseline in a line. */
export function baselineText(baseline: EvalBaseline): string {
  const { suiteId, suiteVersion, name, runId, passedCount, taskCount, replacedRunId, imported } = baseline;
  const before = replacedRunId === undefined ? "" : `, in place of ${replacedRunId}`;
  const from = imported === undefined ? "" : `, imported: ${imported.setBy} named it at ${imported.setAt}`;
  return `${name} of ${suiteId}@${suiteVersion} is ${runId} (${passedCount} of ${taskCount} tasks passed)${from}${before}`;
}
