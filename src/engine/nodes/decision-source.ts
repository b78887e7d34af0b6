import { defined } from "../../protocol/defined.ts";
import type { RunError } from "../../protocol/events.ts";
import type { OrchestratorDecision } from "../../protocol/runs/orchestrator.ts";
import { type Static, type TSchema, Type } from "../../protocol/schema.ts";
import { WORKFLOW_ID_PATTERN } from "../../protocol/workflows/workflow.ts";
import type { Host } from "../host.ts";
import type { EffectContext } from "../worker/node-type.ts";

const WorkerName = Type.String({ pattern: WORKFLOW_ID_PATTERN, maxLength: 128 });

/** A workflow that a supervisor may choose, with a description for its agent. */
export const Worker = Type.Object(
  { workflowId: WorkerName, description: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })) },
  { additionalProperties: false },
);
export type Worker = Static<typeof Worker>;

export interface DecisionRequest {
  /** The context of the node, with the run: its variables, its children and the decision before this one. */
  readonly context: EffectContext;
  readonly agentId: string;
  /** The number of the turn in the whole run, from 1. */
  readonly turn: number;
  readonly workers: readonly Worker[];
  /** The JSON Schema of valid decisions. */
  readonly schema: TSchema;
}

export interface Decided {
  /** Not checked yet. */
  readonly decision: unknown;
  /** The confidence of the decider. Below the threshold a person has to ratify the decision. */
  readonly confidence?: number;
  /** The threshold of the decider; one of the run takes precedence. */
  readonly threshold?: number;
}

/** The decider of a supervisor. It is called once for each turn, after `node.started` is durable, and never by a replay. */
export interface DecisionSource {
  /** Rejects with the reason of an aborted signal; other errors are returned. */
  decide(request: DecisionRequest): Promise<Decided | { readonly error: RunError }>;
}

/** Decisions in the config of a supervisor, for tests and demonstrations. */
export interface Script {
  readonly mockDispatchPlan?: readonly OrchestratorDecision[];
  readonly mockDecisions?: readonly OrchestratorDecision[];
  readonly mockPendingDecision?: OrchestratorDecision;
  readonly mockConfidence?: number;
}

export function isScripted(config: Script): boolean {
  return (config.mockDispatchPlan ?? config.mockDecisions ?? config.mockPendingDecision) !== undefined;
}

export function scriptOf({ mockDispatchPlan, mockDecisions, mockPendingDecision }: Script): OrchestratorDecision[] {
  if (mockDispatchPlan !== undefined) return [...mockDispatchPlan];
  if (mockDecisions !== undefined) return [...mockDecisions];
  return mockPendingDecision === undefined ? [] : [mockPendingDecision];
}

/** One decision of the script for each turn, then the end. */
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

/** The workflow of the published fixtures without an effect. */
export const FIXTURE_WORKER = "conformance-noop";

/**
 * Decisions of a supervisor without agent and plan, as the published dispatch fixture expects them: one worker, then the end. They are served
 * with the conformance routes only; elsewhere, and where the fixture's worker is not registered, such a supervisor ends the run at once.
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
