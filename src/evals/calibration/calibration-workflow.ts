import { makePlan, type Plan } from "../../engine/decide/plan.ts";
import { definitionHash } from "../../engine/plans.ts";
import { CALIBRATION_WORKFLOW_ID } from "../../protocol/judge-certificate-api.ts";
import { type Static, Type } from "../../protocol/schema.ts";
import type { WorkflowDefinition } from "../../protocol/workflow.ts";
import type { Store, WorkflowWrite } from "../../store/store.ts";

export const CALIBRATION_NODE_TYPE = "assay.judge-calibration";

const Name = Type.String({ minLength: 1 });
const Hash = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** What was decided when a calibration was started: the input of its run. */
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
  },
  { additionalProperties: false },
);
export type CalibrationPlan = Static<typeof CalibrationPlan>;

/** What calibrations are runs of. Only the host starts them. */
const DEFINITION: WorkflowDefinition = {
  id: CALIBRATION_WORKFLOW_ID,
  name: "Calibration of a judge",
  description: "Compares the verdicts of the judge with what people said.",
  version: "1",
  status: "archived",
  isActive: false,
  nodes: [
    {
      id: "calibrate",
      typeId: CALIBRATION_NODE_TYPE,
      name: "Calibration",
      position: { x: 0, y: 0 },
      config: {},
      inputs: {},
    },
  ],
  edges: [],
  triggers: [],
  variables: [{ name: "plan", type: "object", required: true }],
  metadata: {},
  settings: {},
};

const HASH = definitionHash(DEFINITION);

export const CALIBRATION_RUN: Plan = makePlan(HASH, DEFINITION);

/** What registers it for a tenant that does not have it yet. */
export async function calibrationWorkflow(store: Store, tenant: string, atMs: number): Promise<WorkflowWrite[]> {
  const standing = await store.readWorkflow(tenant, CALIBRATION_WORKFLOW_ID);
  if (standing?.hash === HASH) return [];
  return [{ tenant, workflowId: CALIBRATION_WORKFLOW_ID, hash: HASH, definition: JSON.stringify(DEFINITION), atMs }];
}
