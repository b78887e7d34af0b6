import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID, type EvalConfigurable } from "../../protocol/evals/api.ts";
import type { EvalBaseline } from "../../protocol/evals/eval-baseline.ts";
import type { SuiteInfo } from "../../protocol/evals/suite-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { matches } from "../../protocol/schema.ts";
import type { Store } from "../../store/port/store.ts";
import { keptBaselineFile } from "./baseline-files.ts";
import { EvalPlan } from "./eval-plan.ts";

export interface UsableBaseline {
  readonly runId: string;
  readonly name?: string;
  /** Set for an imported baseline; its run is not of this host. */
  readonly fileSha256?: string;
}

/** The members of a request that name a baseline; at most one is set. */
export const BASELINE_CHOICES = ["baseline", "baselineRunId", "baselineFileSha256"] as const;

/** The baseline of an evaluation, or a refusal with the reason. */
export async function usableBaseline(
  store: Store,
  visible: Visibility,
  configurable: EvalConfigurable,
  suite: Pick<SuiteInfo, "suiteId" | "version" | "sha256">,
  required: boolean,
): Promise<UsableBaseline | undefined> {
  const { baseline: name, baselineRunId, baselineFileSha256 } = configurable;
  const given = BASELINE_CHOICES.filter((choice) => configurable[choice] !== undefined);
  if (given.length > 1) {
    throw refuse(`name one of ${given.map((choice) => `configurable.${choice}`).join(" and ")}, not both`);
  }
  const set = name === undefined ? undefined : await blessed(store, visible, name, suite.suiteId);
  const fileSha256 = set?.imported?.fileSha256 ?? baselineFileSha256;
  if (fileSha256 !== undefined) {
    const file = await keptBaselineFile(store, visible, fileSha256);
    if (file === undefined) throw refuse(`no baseline file ${fileSha256} is kept here; keep it first`);
    checkSuite(`the imported baseline ${name ?? file.name}`, file, suite);
    return { runId: file.runId, name: name ?? file.name, fileSha256 };
  }
  const runId = set?.runId ?? baselineRunId;
  if (runId === undefined) {
    if (required) throw refuse("mode regression needs a baseline: configurable.baselineRunId or configurable.baseline");
    return undefined;
  }
  const run = await visibleRun({ store } as Host, visible, runId).catch(() => undefined);
  const plan = run && evalPlanOf(run);
  if (run === undefined || plan === undefined) throw refuse(`${runId} is no evaluation that can serve as a baseline`);
  if (run.status !== "completed") throw refuse(`the baseline ${runId} has not completed; it is ${run.status}`);
  checkSuite(`the baseline ${runId}`, plan, suite);
  return { runId, ...(name === undefined ? {} : { name }) };
}

function checkSuite(
  what: string,
  theirs: Pick<EvalPlan, "suiteId" | "suiteVersion" | "suiteSha256">,
  { suiteId, version, sha256 }: Pick<SuiteInfo, "suiteId" | "version" | "sha256">,
): void {
  const ref = `${suiteId}@${version}`;
  if (theirs.suiteId !== suiteId || theirs.suiteVersion !== version) {
    throw refuse(
      `${what} is of suite ${theirs.suiteId}@${theirs.suiteVersion}, and not of ${ref}; set a new one with an evaluation of this one`,
    );
  }
  if (theirs.suiteSha256 !== sha256) {
    throw refuse(`${what} was made with other tasks under the name ${ref}; set a new one`);
  }
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
): Promise<EvalBaseline> {
  const found = await store.readDocument({ tenant, kind: "baseline", key: baselineKey(workspace, suiteId, name) });
  if (found === undefined) {
    throw refuse(`no baseline "${name}" is set for suite ${suiteId}; set one with assay eval baseline set`);
  }
  return JSON.parse(found.body) as EvalBaseline;
}

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
