import type { RunError } from "../../../protocol/events.ts";
import { perObject } from "../../../protocol/per-object.ts";
import { DISPATCH, SUPERVISOR } from "../../../protocol/runs/orchestrator.ts";
import { type NodeState, nodeOf, type Run, type Verdict } from "../../../protocol/runs/run.ts";
import type { WorkflowEdge } from "../../../protocol/workflows/workflow.ts";
import { conditionHolds } from "../../workflows/decide/condition.ts";
import { type Graph, ruleOf, supervisedLoop } from "../../workflows/decide/graph.ts";
import type { Plan } from "../../workflows/decide/plan.ts";

/**
 * Whether an edge leads on from a gate that was not passed: only if its condition holds for the decision and would not hold if the gate had
 * been passed. So nothing is let through by accident.
 */
function selectsVerdict(run: Run, edge: WorkflowEdge, gate: NodeState): boolean {
  return selects(run, edge, gate, [hadItPassed(gate)]);
}

function selects(run: Run, edge: WorkflowEdge, source: NodeState, otherwise: readonly NodeState[]): boolean {
  if (edge.condition === undefined || !conditionHolds(run, edge, source)) return false;
  return !otherwise.some((state) => conditionHolds(run, edge, state));
}

/** The same gate, as if passed. Cached, because conditions are evaluated at every step. */
const hadItPassed = perObject(({ verdict: _, ...gate }: NodeState): NodeState => {
  const outputs = { ...gate.outputs, decision: "granted", outcome: "granted", action: "accept", approved: true };
  return { ...gate, outputs };
});

/**
 * The status of a source for the trigger rule of an edge. A gate that was not passed counts as failed. While a supervisor has to decide again, so
 * do the dispatch that caused it and, for edges that leave the loop, each node of the loop, unless the condition of an edge from the dispatch
 * selects that.
 */
export function statusAlong(graph: Graph, run: Run, edge: WorkflowEdge): NodeState["status"] | undefined {
  const source = nodeOf(run, edge.sourceNodeId);
  if (source?.status !== "completed") return source?.status;
  if (source.verdict !== undefined) return selectsVerdict(run, edge, source) ? "completed" : "failed";
  if (!precedesDecision(graph, run, edge)) return "completed";
  return isDispatch(graph, edge.sourceNodeId) && selects(run, edge, source, hadItBeenDecided(source))
    ? "completed"
    : "failed";
}

/** Whether an edge is taken, as far as its settled source is concerned. */
export function leadsOn(run: Run, edge: WorkflowEdge, source: NodeState): boolean {
  return source.verdict === undefined ? conditionHolds(run, edge, source) : selectsVerdict(run, edge, source);
}

/** Whether a gate at the end of its workflow asked for a refinement: the run completes, because no node follows that it could have opened. */
export function isRefinedEnd({ graph }: Plan, nodeId: string, { verdict }: NodeState): boolean {
  return verdict === "refined" && (graph.forwardFrom.get(nodeId) ?? []).length === 0;
}

/** The error of a completed run for its waiting parent, where a gate at its end was not passed. */
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

/** A dispatch after which its supervisor has to decide again. */
interface Undecided {
  readonly nodeId: string;
  readonly error: RunError;
}

/**
 * The first dispatch whose worker failed or whose question was declined. Its supervisor has to decide again. Where the loop does not return to
 * the supervisor, no node after the loop begins.
 */
export function undecidedDispatch(graph: Graph, run: Run): Undecided | undefined {
  for (const nodeId of supervisedLoop(graph)) {
    if (!isDispatch(graph, nodeId)) continue;
    const error = errorOf(nodeId, nodeOf(run, nodeId));
    if (error !== undefined) return { nodeId, error };
  }
  return undefined;
}

function errorOf(nodeId: string, state: NodeState | undefined): RunError | undefined {
  const { kind, error } = (state?.status === "completed" && state.outputs) || {};
  if (kind === "next-worker") return error as RunError | undefined;
  if (kind !== "declined") return undefined;
  return {
    code: "approval_rejected",
    message: `What node ${nodeId} would have done was declined, and its supervisor did not decide again.`,
  };
}

/** Whether an edge leads out of the loop of a supervisor that has to decide again. */
export function leavesUndecided(graph: Graph, run: Run, { sourceNodeId, targetNodeId }: WorkflowEdge): boolean {
  const loop = supervisedLoop(graph);
  return loop.has(sourceNodeId) && !loop.has(targetNodeId) && undecidedDispatch(graph, run) !== undefined;
}

/**
 * Whether an edge leads on before the supervisor has decided again: out of its loop, or to a later node of the loop from the dispatch whose worker
 * failed or whose question was declined.
 */
function precedesDecision(graph: Graph, run: Run, edge: WorkflowEdge): boolean {
  const { sourceNodeId, targetNodeId } = edge;
  if (!supervisedLoop(graph).has(targetNodeId)) return leavesUndecided(graph, run, edge);
  const isForward = (graph.place.get(targetNodeId) ?? 0) > (graph.place.get(sourceNodeId) ?? 0);
  return isForward && isDispatch(graph, sourceNodeId) && errorOf(sourceNodeId, nodeOf(run, sourceNodeId)) !== undefined;
}

/** Whether an edge returns from a skipped node to a supervisor that has to decide again. */
export function returnsUndecided(graph: Graph, run: Run, edge: WorkflowEdge): boolean {
  const { sourceNodeId, targetNodeId, condition } = edge;
  const isBack = supervisedLoop(graph).has(sourceNodeId) && graph.node.get(targetNodeId)?.typeId === SUPERVISOR;
  return isBack && condition === undefined && undecidedDispatch(graph, run) !== undefined;
}

function isDispatch(graph: Graph, nodeId: string): boolean {
  return graph.node.get(nodeId)?.typeId === DISPATCH;
}

/**
 * The same dispatch, as if its worker had completed and as if its supervisor had ended the loop: an edge that is taken then does not select the
 * failure. Cached, because conditions are evaluated at every step.
 */
const hadItBeenDecided = perObject((dispatch: NodeState): readonly NodeState[] => {
  const { error: _, notStarted: __, ...outputs } = dispatch.outputs ?? {};
  return [
    { ...dispatch, outputs: { ...outputs, kind: "next-worker", childStatus: "completed" } },
    { ...dispatch, outputs: { kind: "terminate" } },
  ];
});

/** The error of a run after a node that failed, or a gate that was not passed, where no edge handles that; undefined otherwise. */
export function unhandled(plan: Plan, run: Run, nodeId: string): RunError | undefined {
  const state = nodeOf(run, nodeId);
  if (state?.status === "failed" && state.error) return failureIsHandled(plan, run, nodeId) ? undefined : state.error;
  if (state?.status !== "completed" || state.verdict === undefined) return undefined;
  return verdictIsHandled(plan, run, nodeId) ? undefined : verdictError(nodeId, state.verdict, state.outputs);
}

/** Whether a forward edge of a failed node has a rule that fires on failures. */
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

/** Whether a verdict is handled: a refinement at the end of the workflow is, a rejection needs an edge of its own. */
function verdictIsHandled(plan: Plan, run: Run, nodeId: string): boolean {
  const state = nodeOf(run, nodeId);
  if (state === undefined) return false;
  const { forwardFrom, backFrom } = plan.graph;
  const edges = [...(forwardFrom.get(nodeId) ?? []), ...(backFrom.get(nodeId) ?? [])];
  if (edges.length === 0) return state.verdict === "refined";
  return edges.some((edge) => leadsOn(run, edge, state)) || failureIsHandled(plan, run, nodeId);
}
