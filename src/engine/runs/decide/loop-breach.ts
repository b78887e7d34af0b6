import { DISPATCH, SUPERVISOR } from "../../../protocol/runs/orchestrator.ts";
import { nodeOf, type Run, visitOf } from "../../../protocol/runs/run.ts";
import type { WorkflowNode } from "../../../protocol/workflows/workflow.ts";
import type { Plan } from "../../workflows/decide/plan.ts";

export interface LoopBreach {
  readonly kind: "loop-iterations" | "dispatch-iterations";
  readonly limit: number;
  readonly observed: number;
}

/** What a supervisor and its dispatches may do in one run at most; nothing while they are within that. */
export function loopBreach(plan: Plan, run: Run, { typeId, config }: WorkflowNode): LoopBreach | undefined {
  if (typeId === SUPERVISOR) {
    const limit = run.configurable?.["maxLoopIterations"];
    return beyond("loop-iterations", limit, (run.orchestrator?.turns ?? 0) + 1);
  }
  // That the loop ends is never one round too many.
  if (typeId !== DISPATCH || run.orchestrator?.decision.kind === "terminate") return undefined;
  return beyond("dispatch-iterations", config["iterationCap"], dispatches(plan, run) + 1);
}

function beyond(kind: LoopBreach["kind"], limit: unknown, observed: number): LoopBreach | undefined {
  return typeof limit === "number" && observed > limit ? { kind, limit, observed } : undefined;
}

/** How often any dispatch of the run has begun before; an attempt that starts over is none of its own. */
function dispatches(plan: Plan, run: Run): number {
  const all = plan.graph.order.filter(({ typeId }) => typeId === DISPATCH);
  const settledBefore = (id: string) => visitOf(run, id) + (isOver(run, id) ? 1 : 0);
  return all.reduce((count, { id }) => count + settledBefore(id), 0);
}

function isOver(run: Run, nodeId: string): boolean {
  const status = nodeOf(run, nodeId)?.status;
  return status === "completed" || status === "failed";
}
