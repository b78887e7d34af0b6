import { GOVERNED_GATE } from "../../engine/nodes/gate-config.ts";
import type { EffectNodeType } from "../../engine/worker/node-type.ts";
import { makePlan, type Plan } from "../../engine/workflows/decide/plan.ts";
import { definitionHash } from "../../engine/workflows/plans.ts";
import type { PolicyGate } from "../../protocol/promotion/api.ts";
import { DEPLOYMENT_WORKFLOW_ID } from "../../protocol/promotion/api.ts";
import { Type } from "../../protocol/schema.ts";
import type { WorkflowDefinition, WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { WorkflowWrite } from "../../store/port/store.ts";

export const APPLY = "apply";
const APPLY_TYPE = "assay.deployment.apply";
const DAY_SEC = 86_400;
const WEEK_SEC = 7 * DAY_SEC;

/**
 * The node of deployment runs. The request brings the transition about, in the commit that changes the deployment; the node itself
 * only waits for that, and no longer than an approval holds.
 */
export const deploymentNode: EffectNodeType = {
  kind: "effect",
  typeId: APPLY_TYPE,
  hostOnly: true,
  summary: "Waits for a deployment that was approved to be applied. Made by deployments; no workflow may use it.",
  config: Type.Object({ applyWithinSec: Type.Number({ exclusiveMinimum: 0 }) }, { additionalProperties: false }),
  execute: async ({ config, slept }) => {
    const applyWithinSec = Number(config["applyWithinSec"]);
    if (!slept) return { type: "sleep", forMs: Math.ceil(applyWithinSec * 1000) };
    const message = `The deployment was approved and not applied within ${applyWithinSec} seconds; ask again.`;
    return { type: "failed", error: { code: "deployment_not_applied", message, retryable: false } };
  },
};

/** The time for which an approval holds. */
export function applyWithinSecOf({ applyWithinSec = DAY_SEC }: Pick<PolicyGate, "applyWithinSec"> = {}): number {
  return applyWithinSec;
}

/** The question to the approvers, and its subject. */
export interface GateAsked {
  readonly gateId: string;
  readonly gate: PolicyGate;
  readonly title: string;
  readonly artifactId: string;
  readonly artifactData: Readonly<Record<string, unknown>>;
}

export function managementPlan(asked?: GateAsked): Plan {
  const definition = definitionOf(asked);
  return makePlan(definitionHash(definition), definition);
}

export function planWrite({ hash, definition }: Plan, tenant: string, atMs: number): WorkflowWrite {
  return { tenant, workflowId: definition.id, hash, definition: JSON.stringify(definition), atMs };
}

function definitionOf(asked: GateAsked | undefined): WorkflowDefinition {
  const applyWithinSec = applyWithinSecOf(asked?.gate);
  const apply = nodeOf(APPLY, APPLY_TYPE, "Apply", { applyWithinSec });
  return {
    id: DEPLOYMENT_WORKFLOW_ID,
    name: "Deployment",
    description: "Transitions of deployed agents.",
    version: "1",
    status: "archived",
    isActive: false,
    nodes: asked === undefined ? [apply] : [gateNode(asked), apply],
    edges:
      asked === undefined
        ? []
        : [{ id: "granted", sourceNodeId: asked.gateId, targetNodeId: APPLY, condition: GRANTED }],
    triggers: [],
    variables: [],
    metadata: {},
    settings: {},
  };
}

const GRANTED = { type: "equals", left: "output.decision", right: "granted" } as const;

function gateNode({ gateId, gate, title, artifactId, artifactData }: GateAsked): WorkflowNode {
  const { applyWithinSec: _, override, forbidSelfApproval = true, timeoutSec = WEEK_SEC, ...rules } = gate;
  return nodeOf(gateId, GOVERNED_GATE, "Approval", {
    ...rules,
    forbidSelfApproval,
    timeoutSec,
    ...(override === undefined ? {} : { override: { ...override, audited: true } }),
    title,
    artifactId,
    artifactType: "agent-deployment",
    artifactData,
  });
}

function nodeOf(id: string, typeId: string, name: string, config: Readonly<Record<string, unknown>>): WorkflowNode {
  return { id, typeId, name, position: { x: 0, y: 0 }, config, inputs: {} };
}
