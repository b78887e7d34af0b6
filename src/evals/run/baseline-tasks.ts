import type { Owner } from "../../protocol/identity/identity.ts";
import type { TaskResult as ComparedTask } from "../../statistics/pair-tasks.ts";
import type { Store } from "../../store/port/store.ts";
import { evalPlanOf } from "./baseline.ts";
import { keptBaselineFile } from "./baseline-files.ts";
import type { EvalPlan } from "./eval-plan.ts";
import { tasksWithPasses } from "./mode-figures.ts";
import { readResults } from "./read-results.ts";

/** Tasks of the baseline of an evaluation, with their passes. Empty where there is no baseline, or nothing of it is kept any more. */
export async function baselineTasks(store: Store, owner: Owner, plan: EvalPlan): Promise<readonly ComparedTask[]> {
  const { baselineRunId, baselineFileSha256 } = plan;
  if (baselineFileSha256 !== undefined) {
    return (await keptBaselineFile(store, owner, baselineFileSha256))?.tasks ?? [];
  }
  if (baselineRunId === undefined) return [];
  const run = await store.readRun(owner, baselineRunId);
  const modes = (run && evalPlanOf(run)?.modes) ?? [];
  return tasksWithPasses(await readResults(store, owner.tenant, baselineRunId), modes);
}
