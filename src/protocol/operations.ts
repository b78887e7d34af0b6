import { AGENT_OPERATIONS } from "./agents/operations.ts";
import { AUDIT_OPERATIONS } from "./audit/operations.ts";
import { CONFORMANCE_OPERATIONS } from "./conformance/operations.ts";
import { EVAL_OPERATIONS } from "./evals/operations.ts";
import { SUITE_OPERATIONS } from "./evals/suite-operations.ts";
import { GATE_OPERATIONS } from "./gates/operations.ts";
import { HOST_OPERATIONS } from "./host-operations.ts";
import { IDENTITY_OPERATIONS } from "./identity/operations.ts";
import { JUDGMENT_OPERATIONS } from "./judgments/operations.ts";
import type { Operation } from "./operation.ts";
import { DEPLOYMENT_OPERATIONS } from "./promotion/operations.ts";
import { QUEUE_OPERATIONS } from "./queues/operations.ts";
import { REVIEW_OPERATIONS } from "./reviews/operations.ts";
import { RUN_OPERATIONS } from "./runs/operations.ts";
import { TAPE_OPERATIONS } from "./tapes/operations.ts";
import { WEBHOOK_OPERATIONS } from "./webhooks/operations.ts";
import { WORKFLOW_OPERATIONS } from "./workflows/operations.ts";

/** Every route the host serves, in one table. */
export const OPERATIONS = {
  ...HOST_OPERATIONS,
  ...WORKFLOW_OPERATIONS,
  ...RUN_OPERATIONS,
  ...GATE_OPERATIONS,
  ...JUDGMENT_OPERATIONS,
  ...QUEUE_OPERATIONS,
  ...TAPE_OPERATIONS,
  ...REVIEW_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...DEPLOYMENT_OPERATIONS,
  ...SUITE_OPERATIONS,
  ...EVAL_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...IDENTITY_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...CONFORMANCE_OPERATIONS,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;
