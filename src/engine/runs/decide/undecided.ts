import type { RunError } from "../../../protocol/events.ts";
import { DISPATCH } from "../../../protocol/runs/orchestrator.ts";
import { type NodeState, nodeOf, type Run } from "../../../protocol/runs/run.ts";
import type { WorkflowEdge } from "../../../protocol/workflows/workflow.ts";
import { type Graph, supervisedLoop } from "../../workflows/decide/graph.ts";

/** A dispatch after which the supervisor has to decide again. */
interface Undecided {
  readonly nodeId: string;
  readonly error: RunError;
}

/**
 * The first dispatch whose worker failed, or whose question was answered with "no". Its supervisor decides what to do about that. Where the
 * loop does not come back to the supervisor, nothing behind the loop begins.
 */
export function undecidedDispatch(graph: Graph, run: Run): Undecided | undefined {
  for (const nodeId of supervisedLoop(graph)) {
    if (graph.node.get(nodeId)?.typeId !== DISPATCH) continue;
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
 * The same dispatch, had its worker completed and had its supervisor ended the loop: an edge that is taken then does not ask for what it came
 * to. Kept, because a condition is asked about at every step.
 */
const DECIDED = new WeakMap<NodeState, readonly NodeState[]>();

export function hadItBeenDecided(dispatch: NodeState): readonly NodeState[] {
  const known = DECIDED.get(dispatch);
  if (known !== undefined) return known;
  const { error: _, notStarted: __, ...outputs } = dispatch.outputs ?? {};
  const decided = [
    { ...dispatch, outputs: { ...outputs, kind: "next-worker", childStatus: "completed" } },
    { ...dispatch, outputs: { kind: "terminate" } },
  ];
  DECIDED.set(dispatch, decided);
  return decided;
}
