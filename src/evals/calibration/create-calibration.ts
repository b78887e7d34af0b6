import type { Recorder } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { beginRun } from "../../engine/runs/create-run.ts";
import { makePlan, type Plan } from "../../engine/workflows/decide/plan.ts";
import { oneNodeWorkflow, registrationOf } from "../../engine/workflows/own-workflow.ts";
import { definitionHash } from "../../engine/workflows/plans.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import { CALIBRATION_WORKFLOW_ID, type CalibrateJudge } from "../../protocol/evals/judge-certificate-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { CreateRunResponse } from "../../protocol/runs/api.ts";
import { type Static, Type } from "../../protocol/schema.ts";
import type { EvalServices, EvalSettings } from "../run/eval-run.ts";
import { readSuite } from "../suite/suite-store.ts";
import { CERTIFICATE_DAYS } from "./certificate.ts";
import { gatherGold } from "./gather-gold.ts";
import { recordedJudge, UNVERSIONED } from "./judge-certification.ts";

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
  const workflows = await registrationOf(host.store, caller.tenant, DEFINITION, CALIBRATION_RUN.hash, host.nowMs());
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
  if (judge === undefined) throw validationError("no judge is configured; name one under `judge` in the agents file");
  const { versioned, promptSha256, modelSha256 } = recordedJudge(judge);
  if (!versioned) throw validationError(`no certificate can be issued: ${UNVERSIONED.problem.replace(/\.$/, "")}`);
  const { suite, info } = await readSuite(host, caller.tenant, ref);
  if (!suite.tasks.some(({ expected }) => expected.kind === "rubric")) {
    throw validationError(`suite ${info.suiteId}@${info.version} has no rubric, so nothing in it is judged`);
  }
  const chosen = taskId === undefined ? {} : { taskId };
  const { items, disputed, leftOut } = await gatherGold(host, caller, { suite, runIds, importedGold, ...chosen });
  if (items.length === 0) {
    const problem = "no output of these runs has a label; label them pass or fail, or rate them";
    throw validationError(problem, { disputed, leftOut });
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
    throw validationError(`budgetUsd is ${budgetUsd}, and this host spends ${cap} USD at most on one calibration`);
  }
  return {
    concurrency: Math.min(wanted.concurrency ?? concurrency, maxConcurrency),
    ...defined({ budgetUsd }),
  };
}

export const CALIBRATION_NODE_TYPE = "assay.judge-calibration";

const Name = Type.String({ minLength: 1 });
const Hash = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** The settings of a calibration: the input of its run. */
export const CalibrationPlan = Type.Object(
  {
    suiteId: Name,
    suiteVersion: Name,
    suiteSha256: Hash,
    runIds: Type.Array(Name, { minItems: 1 }),
    taskId: Type.Optional(Name),
    promptSha256: Hash,
    modelSha256: Hash,
    issuedBy: Name,
    days: Type.Integer({ minimum: 1 }),
    seed: Type.Integer({ minimum: 0 }),
    concurrency: Type.Integer({ minimum: 1 }),
    /** The calibration stops when it has spent this much. */
    budgetUsd: Type.Optional(Type.Number({ minimum: 0 })),
  },
  { additionalProperties: false },
);
export type CalibrationPlan = Static<typeof CalibrationPlan>;

const DEFINITION = oneNodeWorkflow({
  id: CALIBRATION_WORKFLOW_ID,
  name: "Calibration of a judge",
  description: "Compares the verdicts of the judge with what people said.",
  nodeId: "calibrate",
  typeId: CALIBRATION_NODE_TYPE,
});

const CALIBRATION_RUN: Plan = makePlan(definitionHash(DEFINITION), DEFINITION);
