import { refused, visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { checkBaselineFile } from "../../formats/evals/baseline-file.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { EvalConfigurable } from "../../protocol/evals/api.ts";
import type { BaselineFile, EvalBaseline } from "../../protocol/evals/baselines.ts";
import type { SuiteInfo } from "../../protocol/evals/suite-api.ts";
import type { Owner, Visibility } from "../../protocol/identity/identity.ts";
import type { TaskResult as ComparedTask } from "../../statistics/pair-tasks.ts";
import type { DocumentId, Documents } from "../../store/port/documents.ts";
import type { Store } from "../../store/port/store.ts";
import { type EvalPlan, evalPlanOf } from "./eval-plan.ts";
import { tasksWithPasses } from "./passes.ts";
import { readOutcomes } from "./task-result.ts";

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
    throw validationError(`name one of ${given.map((choice) => `configurable.${choice}`).join(" and ")}, not both`);
  }
  const set = name === undefined ? undefined : await blessed(store, visible, name, suite.suiteId);
  const fileSha256 = set?.imported?.fileSha256 ?? baselineFileSha256;
  if (fileSha256 !== undefined) {
    const file = await keptBaselineFile(store, visible, fileSha256);
    if (file === undefined) throw validationError(`no baseline file ${fileSha256} is kept here; keep it first`);
    checkSuite(`the imported baseline ${name ?? file.name}`, file, suite);
    return { runId: file.runId, name: name ?? file.name, fileSha256 };
  }
  const runId = set?.runId ?? baselineRunId;
  if (runId === undefined) {
    if (required)
      throw validationError("mode regression needs a baseline: configurable.baselineRunId or configurable.baseline");
    return undefined;
  }
  const run = await visibleRun({ store } as Host, visible, runId).catch(() => undefined);
  const plan = run && evalPlanOf(run);
  if (run === undefined || plan === undefined)
    throw validationError(`${runId} is no evaluation that can serve as a baseline`);
  if (run.status !== "completed") throw validationError(`the baseline ${runId} has not completed; it is ${run.status}`);
  checkSuite(`the baseline ${runId}`, plan, suite);
  return { runId, ...defined({ name }) };
}

function checkSuite(
  what: string,
  theirs: Pick<EvalPlan, "suiteId" | "suiteVersion" | "suiteSha256">,
  { suiteId, version, sha256 }: Pick<SuiteInfo, "suiteId" | "version" | "sha256">,
): void {
  const ref = `${suiteId}@${version}`;
  if (theirs.suiteId !== suiteId || theirs.suiteVersion !== version) {
    throw validationError(
      `${what} is of suite ${theirs.suiteId}@${theirs.suiteVersion}, and not of ${ref}; set a new one with an evaluation of this one`,
    );
  }
  if (theirs.suiteSha256 !== sha256) {
    throw validationError(`${what} was made with other tasks under the name ${ref}; set a new one`);
  }
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
    throw validationError(`no baseline "${name}" is set for suite ${suiteId}; set one with assay eval baseline set`);
  }
  return JSON.parse(found.body) as EvalBaseline;
}

/** Keeps a baseline that came in a file under its digest: what an evaluation was compared with stays what it was. */
export async function keepBaselineFile(
  host: Pick<Host, "store" | "nowMs" | "scrubber">,
  visible: Visibility,
  sha256: string,
  value: unknown,
): Promise<void> {
  const checked = checkBaselineFile(value);
  if (!checked.ok) throw validationError(`the baseline file cannot be taken: ${checked.problem}`);
  if (checked.file.sha256 !== sha256) throw validationError("the digest in the path is not that of the file");
  // The digest covers every character, so secrets cannot be removed from a file.
  if (host.scrubber.scrubValue(checked.file) !== checked.file)
    throw validationError("the baseline file holds a secret");
  const { tenant, workspace } = visible;
  const committed = await host.store.commit({
    tenant,
    documents: [
      {
        type: "keep",
        document: {
          ...fileId(visible, sha256),
          ...defined({ workspace }),
          revision: 1,
          atMs: host.nowMs(),
          body: JSON.stringify(checked.file),
        },
      },
    ],
  });
  if (!committed.ok) throw refused(committed.refusal);
}

export async function keptBaselineFile(
  store: Pick<Documents, "readDocument">,
  visible: Visibility,
  sha256: string,
): Promise<BaselineFile | undefined> {
  const found = await store.readDocument(fileId(visible, sha256));
  return found && (JSON.parse(found.body) as BaselineFile);
}

/** File ids share the space of names and never equal one: names begin with a bracket. */
function fileId({ tenant, workspace }: Visibility, sha256: string): DocumentId {
  return { tenant, kind: "baseline", key: `file/${workspace ?? ""}/${sha256}` };
}

/** Tasks of the baseline of an evaluation, with their passes. Empty where there is no baseline, or nothing of it is kept any more. */
export async function baselineTasks(store: Store, owner: Owner, plan: EvalPlan): Promise<readonly ComparedTask[]> {
  const { baselineRunId, baselineFileSha256 } = plan;
  if (baselineFileSha256 !== undefined) {
    return (await keptBaselineFile(store, owner, baselineFileSha256))?.tasks ?? [];
  }
  if (baselineRunId === undefined) return [];
  const run = await store.readRun(owner, baselineRunId);
  const modes = (run && evalPlanOf(run)?.modes) ?? [];
  return tasksWithPasses(await readOutcomes(store, owner.tenant, baselineRunId), modes);
}
