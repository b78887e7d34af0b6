import type { RunError } from "../../../protocol/events.ts";
import { nodeOf, type Run } from "../../../protocol/runs/run.ts";
import type { WorkflowEdge } from "../../../protocol/workflows/workflow.ts";
import { conditionHolds } from "../../workflows/decide/condition.ts";
import { ruleOf } from "../../workflows/decide/graph.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import { leadsOn, verdictError } from "./verdict.ts";

/** Why the run cannot go on after this node: it failed, or was a gate that nobody passes, and no edge expects that. */
export function unhandled(plan: Plan, run: Run, nodeId: string): RunError | undefined {
  const state = nodeOf(run, nodeId);
  if (state?.status === "failed" && state.error) {
    return failureIsHandled(plan, run, nodeId) ? undefined : state.error;
  }
  if (state?.status !== "completed" || state.verdict === undefined) return undefined;
  return verdictIsHandled(plan, run, nodeId) ? undefined : verdictError(nodeId, state.verdict, state.outputs);
}

/** A failure is handled when some forward edge of the node leads to a rule that fires on it. */
function failureIsHandled(plan: Plan, run: Run, nodeId: string): boolean {
  const state = nodeOf(run, nodeId);
  if (state === undefined) return false;
  return (plan.graph.forwardFrom.get(nodeId) ?? []).some(
    (edge) => handlesFailure(edge) && conditionHolds(run, edge, state),
  );
}

export function handlesFailure(edge: WorkflowEdge): boolean {
  return ruleOf(edge) === "any_failed" || ruleOf(edge) === "all_complete";
}

/** A refinement that nothing comes after opens nothing; a rejection always wants an edge of its own. */
function verdictIsHandled(plan: Plan, run: Run, nodeId: string): boolean {
  const state = nodeOf(run, nodeId);
  if (state === undefined) return false;
  const { forwardFrom, backFrom } = plan.graph;
  const edges = [...(forwardFrom.get(nodeId) ?? []), ...(backFrom.get(nodeId) ?? [])];
  if (edges.length === 0) return state.verdict === "refined";
  return edges.some((edge) => leadsOn(run, edge, state)) || failureIsHandled(plan, run, nodeId);
}
