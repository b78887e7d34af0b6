import { defined } from "../../protocol/defined.ts";
import type { RunError } from "../../protocol/events.ts";
import type { OrchestratorDecision } from "../../protocol/runs/orchestrator.ts";
import { type Static, type TSchema, Type } from "../../protocol/schema.ts";
import { WORKFLOW_ID_PATTERN } from "../../protocol/workflows/workflow.ts";
import type { Host } from "../host.ts";
import type { EffectContext } from "../worker/node-type.ts";

const WorkerName = Type.String({ pattern: WORKFLOW_ID_PATTERN, maxLength: 128 });

/** A workflow that may be decided on, and what a decider should know of it. */
export const Worker = Type.Object(
  { workflowId: WorkerName, description: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })) },
  { additionalProperties: false },
);
export type Worker = Static<typeof Worker>;

export interface DecisionRequest {
  /** Of the node, with the run as it is: its variables, its children and the decision before this one. */
  readonly context: EffectContext;
  readonly agentId: string;
  /** From 1, over the whole run. */
  readonly turn: number;
  readonly workers: readonly Worker[];
  /** JSON Schema of what may be decided. */
  readonly schema: TSchema;
}

export interface Decided {
  /** Not trusted: it is checked before anything is made of it. */
  readonly decision: unknown;
  /** How sure the decider is of itself. Below the threshold somebody has to ratify the decision. */
  readonly confidence?: number;
  /** The decider's own threshold; that of the run wins. */
  readonly threshold?: number;
}

/** Who decides for a supervisor. Asked once for each turn, after `node.started` is durable, and never by a replay. */
export interface DecisionSource {
  /** Rejects with the reason of the signal when that is aborted; what else goes wrong is an answer. */
  decide(request: DecisionRequest): Promise<Decided | { readonly error: RunError }>;
}

/** Decisions that stand in the workflow, for tests and demonstrations. */
export interface Script {
  readonly mockDispatchPlan?: readonly OrchestratorDecision[];
  readonly mockDecisions?: readonly OrchestratorDecision[];
  readonly mockPendingDecision?: OrchestratorDecision;
  readonly mockConfidence?: number;
}

export function isScripted(config: Script): boolean {
  return (
    config.mockDispatchPlan !== undefined ||
    config.mockDecisions !== undefined ||
    config.mockPendingDecision !== undefined
  );
}

export function scriptOf({ mockDispatchPlan, mockDecisions, mockPendingDecision }: Script): OrchestratorDecision[] {
  if (mockDispatchPlan !== undefined) return [...mockDispatchPlan];
  if (mockDecisions !== undefined) return [...mockDecisions];
  return mockPendingDecision === undefined ? [] : [mockPendingDecision];
}

/** One decision of the script for each turn, and the end once there is none left. */
export const scripted: DecisionSource = {
  async decide({ context: { config }, turn }) {
    const decision = scriptOf(config as Script)[turn - 1];
    if (decision === undefined) {
      const reason = isScripted(config as Script) ? "plan-exhausted" : "no-plan";
      return { decision: { kind: "terminate", reason } };
    }
    const { mockConfidence } = config as Script;
    return defined({ decision, confidence: mockConfidence });
  },
};

/** The workflow of the published fixtures that does nothing. */
export const FIXTURE_WORKER = "conformance-noop";

/**
 * Decisions of a supervisor with neither agent nor plan, as the published dispatch fixture expects them: one worker, then
 * the end. Only with the conformance seams: elsewhere such a supervisor ends the run at once. So it does where the
 * fixture's worker is not registered.
 */
export function planless(host: Pick<Host, "store">): DecisionSource {
  return {
    async decide(request) {
      const { context, turn, workers } = request;
      const worker = workers[0]?.workflowId ?? FIXTURE_WORKER;
      if (turn > 1) return { decision: { kind: "terminate", reason: "plan-exhausted" } };
      const registered = await host.store.readWorkflow(context.run.owner.tenant, worker);
      if (registered === undefined) return scripted.decide(request);
      return { decision: { kind: "next-worker", nextWorkerIds: [worker] } };
    },
  };
}
