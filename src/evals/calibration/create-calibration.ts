import type { Recorder } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { beginRun } from "../../engine/runs/create-run.ts";
import { AppError } from "../../protocol/errors.ts";
import type { CalibrateJudge } from "../../protocol/evals/judge-certificate-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { CreateRunResponse } from "../../protocol/runs/api.ts";
import type { EvalServices, EvalSettings } from "../run/eval-run.ts";
import { readSuite } from "../suite/suite-store.ts";
import { CALIBRATION_RUN, type CalibrationPlan, calibrationWorkflow } from "./calibration-workflow.ts";
import { CERTIFICATE_DAYS } from "./certificate.ts";
import { recordedJudge, UNVERSIONED } from "./certified-judge.ts";
import { gatherGold } from "./gather-gold.ts";

export interface CreateCalibration {
  readonly caller: Caller;
  readonly request: CalibrateJudge;
  readonly record: Recorder<CreateRunResponse>;
}

/** Starts the run that asks the judge about every output that people judged. What can be refused is refused before that. */
export async function createCalibration(
  host: Host,
  services: EvalServices,
  { caller, request, record }: CreateCalibration,
): Promise<CreateRunResponse> {
  const plan = await planOf(host, services, caller, request);
  const workflows = await calibrationWorkflow(host.store, caller.tenant, host.nowMs());
  const started = { workflowId: CALIBRATION_RUN.definition.id, inputs: { plan } };
  const sideWrites = workflows.length === 0 ? {} : { workflows };
  return beginRun(host, CALIBRATION_RUN, { caller, request: started, dedup: false, record }, sideWrites);
}

async function planOf(
  host: Host,
  { judge, settings, importedGold }: EvalServices,
  caller: Caller,
  { suite: ref, runIds, taskId, days = CERTIFICATE_DAYS, seed = 1, ...limits }: CalibrateJudge,
): Promise<CalibrationPlan> {
  if (judge === undefined) throw refuse("no judge is configured; name one under `judge` in the agents file");
  const { versioned, promptSha256, modelSha256 } = recordedJudge(judge);
  if (!versioned) throw refuse(`no certificate can be issued: ${UNVERSIONED.problem.replace(/\.$/, "")}`);
  const { suite, info } = await readSuite(host, caller.tenant, ref);
  if (!suite.tasks.some(({ expected }) => expected.kind === "rubric")) {
    throw refuse(`suite ${info.suiteId}@${info.version} has no rubric, so nothing in it is judged`);
  }
  const chosen = taskId === undefined ? {} : { taskId };
  const { items, disputed, leftOut } = await gatherGold(host, caller, { suite, runIds, importedGold, ...chosen });
  if (items.length === 0) {
    throw new AppError("validation_error", {
      problem: "no output of these runs has a label; label them pass or fail, or rate them",
      disputed,
      leftOut,
    });
  }
  return {
    suiteId: info.suiteId,
    suiteVersion: info.version,
    suiteSha256: info.sha256,
    runIds: [...runIds],
    ...chosen,
    promptSha256,
    modelSha256,
    issuedBy: caller.principal,
    days,
    seed,
    ...limited(settings, limits),
  };
}

/** The host's limits of cost and concurrency, the same as for an evaluation. */
function limited(
  { concurrency, maxConcurrency, maxCostUsdPerSuite: cap }: EvalSettings,
  wanted: Pick<CalibrateJudge, "concurrency" | "budgetUsd">,
): Pick<CalibrationPlan, "concurrency" | "budgetUsd"> {
  const { budgetUsd = cap } = wanted;
  if (cap !== undefined && budgetUsd !== undefined && budgetUsd > cap) {
    throw refuse(`budgetUsd is ${budgetUsd}, and this host spends ${cap} USD at most on one calibration`);
  }
  return {
    concurrency: Math.min(wanted.concurrency ?? concurrency, maxConcurrency),
    ...(budgetUsd === undefined ? {} : { budgetUsd }),
  };
}

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
