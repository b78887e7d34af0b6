import { DISPATCH, type OrchestratorDecision, SUPERVISOR } from "../protocol/runs/orchestrator.ts";
import type { WorkflowDefinition, WorkflowNode } from "../protocol/workflows/workflow.ts";
import { type WorkflowSpec, workflow } from "./workflow.ts";

export const next = (...nextWorkerIds: string[]): OrchestratorDecision => ({ kind: "next-worker", nextWorkerIds });

export const DONE: OrchestratorDecision = { kind: "terminate", reason: "done" };

export interface Orchestrated extends Partial<WorkflowSpec> {
  /** What is decided, turn by turn; absent where an agent decides. */
  readonly plan?: readonly OrchestratorDecision[];
  readonly boss?: Partial<WorkflowNode>;
  readonly dispatch?: WorkflowNode["config"];
  /** False: no edge leads back from the dispatch. */
  readonly loop?: boolean;
}

/** A workflow that is a supervisor, `boss`, and its dispatch, `do`, in a loop unless told otherwise. */
export function orchestrated({
  plan,
  boss = {},
  dispatch = {},
  loop = true,
  ...rest
}: Orchestrated): WorkflowDefinition {
  const { nodes = {}, edges = [], ...more } = rest;
  const script = plan === undefined ? {} : { mockDispatchPlan: plan };
  return workflow({
    id: "led",
    ...more,
    nodes: {
      boss: { ...boss, typeId: SUPERVISOR, config: { ...script, ...boss.config } },
      do: { typeId: DISPATCH, config: dispatch },
      ...nodes,
    },
    edges: ["boss>do", ...(loop ? ["do>boss"] : []), ...edges],
  });
}
