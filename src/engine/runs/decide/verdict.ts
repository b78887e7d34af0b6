import type { RunError } from "../../../protocol/events.ts";
import { DISPATCH } from "../../../protocol/runs/orchestrator.ts";
import { type NodeState, nodeOf, type Run, type Verdict } from "../../../protocol/runs/run.ts";
import type { WorkflowEdge } from "../../../protocol/workflows/workflow.ts";
import { conditionHolds } from "../../workflows/decide/condition.ts";
import type { Graph } from "../../workflows/decide/graph.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import { hadItBeenDecided, leavesUndecided } from "./undecided.ts";

/**
 * A gate that was not passed lets nothing through by accident: an edge leads on from it only when its condition holds
 * for what was decided and would not hold had the gate been passed.
 */
function selectsVerdict(run: Run, edge: WorkflowEdge, gate: NodeState): boolean {
  return selects(run, edge, gate, [hadItPassed(gate)]);
}

function selects(run: Run, edge: WorkflowEdge, source: NodeState, otherwise: readonly NodeState[]): boolean {
  if (edge.condition === undefined || !conditionHolds(run, edge, source)) return false;
  return !otherwise.some((state) => conditionHolds(run, edge, state));
}

/** The same gate, passed. Kept, because a condition is asked about at every step. */
const PASSED = new WeakMap<NodeState, NodeState>();

function hadItPassed(gate: NodeState): NodeState {
  const known = PASSED.get(gate);
  if (known !== undefined) return known;
  const { verdict: _, ...rest } = gate;
  const outputs = { ...gate.outputs, decision: "granted", outcome: "granted", action: "accept", approved: true };
  const passed = { ...rest, outputs };
  PASSED.set(gate, passed);
  return passed;
}

/**
 * What a source counts as for the rule at the other end of an edge. A gate that was not passed counts as a failure. So does each node of a
 * supervisor's loop for what comes after the loop, while the supervisor has to decide again; an edge from the dispatch may ask for just that.
 */
export function statusAlong(graph: Graph, run: Run, edge: WorkflowEdge): NodeState["status"] | undefined {
  const source = nodeOf(run, edge.sourceNodeId);
  if (source?.status !== "completed") return source?.status;
  if (source.verdict !== undefined) return selectsVerdict(run, edge, source) ? "completed" : "failed";
  if (!leavesUndecided(graph, run, edge)) return "completed";
  const isDispatch = graph.node.get(edge.sourceNodeId)?.typeId === DISPATCH;
  return isDispatch && selects(run, edge, source, hadItBeenDecided(source)) ? "completed" : "failed";
}

/** Whether the edge is taken from a settled source, as far as the source is concerned. */
export function leadsOn(run: Run, edge: WorkflowEdge, source: NodeState): boolean {
  return source.verdict === undefined ? conditionHolds(run, edge, source) : selectsVerdict(run, edge, source);
}

/** Whether a gate asked for a refinement at the end of its workflow: its run completes, because there is nothing it could have opened there. */
export function isRefinedEnd({ graph }: Plan, nodeId: string, { verdict }: NodeState): boolean {
  return verdict === "refined" && (graph.forwardFrom.get(nodeId) ?? []).length === 0;
}

/** What a run that completed means for whoever waits for it, where a gate at its end was not passed. */
export function unfollowed(plan: Plan, run: Run): RunError | undefined {
  for (const { id } of plan.graph.order) {
    const gate = nodeOf(run, id);
    if (gate !== undefined && isRefinedEnd(plan, id, gate)) return verdictError(id, "refined", gate.outputs);
  }
  return undefined;
}

export function verdictError(nodeId: string, verdict: Verdict, outputs: NodeState["outputs"]): RunError {
  const reason = outputs?.["reason"];
  const details = { nodeId, ...(typeof reason === "string" ? { reason } : {}) };
  return verdict === "rejected"
    ? { code: "approval_rejected", message: `Gate ${nodeId} was rejected, and no edge leads on from that.`, details }
    : {
        code: "approval_refined",
        message: `Gate ${nodeId} wants a refinement, and no edge leads back for one.`,
        details,
      };
}
