import { makePlan, type Plan } from "../../engine/workflows/decide/plan.ts";
import { oneNodeWorkflow, registrationOf } from "../../engine/workflows/own-workflow.ts";
import { definitionHash } from "../../engine/workflows/plans.ts";
import { CALIBRATION_WORKFLOW_ID } from "../../protocol/evals/judge-certificate-api.ts";
import { type Static, Type } from "../../protocol/schema.ts";
import type { Store, WorkflowWrite } from "../../store/port/store.ts";

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

/** The workflow of calibration runs. */
const DEFINITION = oneNodeWorkflow({
  id: CALIBRATION_WORKFLOW_ID,
  name: "Calibration of a judge",
  description: "Compares the verdicts of the judge with what people said.",
  nodeId: "calibrate",
  typeId: CALIBRATION_NODE_TYPE,
});

export const CALIBRATION_RUN: Plan = makePlan(definitionHash(DEFINITION), DEFINITION);

export function calibrationWorkflow(store: Store, tenant: string, atMs: number): Promise<WorkflowWrite[]> {
  return registrationOf(store, tenant, DEFINITION, CALIBRATION_RUN.hash, atMs);
}
