import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID, type EvalConfigurable } from "../../protocol/eval-api.ts";
import type { Visibility } from "../../protocol/identity.ts";
import type { Run } from "../../protocol/run.ts";
import { matches } from "../../protocol/schema.ts";
import type { SuiteInfo } from "../../protocol/suite-api.ts";
import type { Store } from "../../store/store.ts";
import { EvalPlan } from "./eval-plan.ts";

export interface NamedBaseline {
  readonly runId: string;
  readonly name?: string;
}

/** What an evaluation is compared with, or a refusal that says why it cannot be. */
export async function usableBaseline(
  store: Store,
  visible: Visibility,
  { baseline: name, baselineRunId }: EvalConfigurable,
  suite: Pick<SuiteInfo, "suiteId" | "version" | "sha256">,
  required: boolean,
): Promise<NamedBaseline | undefined> {
  if (name !== undefined && baselineRunId !== undefined) {
    throw refuse("name configurable.baseline or configurable.baselineRunId, not both");
  }
  const runId = name === undefined ? baselineRunId : await blessed(store, visible, name, suite.suiteId);
  if (runId === undefined) {
    if (required) throw refuse("mode regression needs a baseline: configurable.baselineRunId or configurable.baseline");
    return undefined;
  }
  const run = await visibleRun({ store } as Host, visible, runId).catch(() => undefined);
  const plan = run && evalPlanOf(run);
  if (run === undefined || plan === undefined) throw refuse(`${runId} is no evaluation that can serve as a baseline`);
  if (run.status !== "completed") throw refuse(`the baseline ${runId} has not completed; it is ${run.status}`);
  if (plan.suiteId !== suite.suiteId || plan.suiteVersion !== suite.version) {
    const theirs = `${plan.suiteId}@${plan.suiteVersion}`;
    throw refuse(`the baseline ${runId} is of suite ${theirs}, and not of ${suite.suiteId}@${suite.version}`);
  }
  if (plan.suiteSha256 !== suite.sha256) {
    const ref = `${suite.suiteId}@${suite.version}`;
    throw refuse(`the baseline ${runId} was made with other tasks under the name ${ref}; set a new one`);
  }
  return { runId, ...(name === undefined ? {} : { name }) };
}

export function evalPlanOf(run: Run): EvalPlan | undefined {
  const plan = run.variables["plan"];
  return run.workflowId === EVAL_WORKFLOW_ID && matches(EvalPlan, plan) ? plan : undefined;
}

/** Baselines have a name within their suite. */
export function baselineKey(workspace: string | undefined, suiteId: string, name: string): string {
  return JSON.stringify([workspace ?? "", suiteId, name]);
}

async function blessed(
  store: Store,
  { tenant, workspace }: Visibility,
  name: string,
  suiteId: string,
): Promise<string> {
  const found = await store.readDocument({ tenant, kind: "baseline", key: baselineKey(workspace, suiteId, name) });
  if (found === undefined) {
    throw refuse(`no baseline "${name}" is set for suite ${suiteId}; set one with assay eval baseline set`);
  }
  return (JSON.parse(found.body) as { runId: string }).runId;
}

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
