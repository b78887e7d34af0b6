import { isSettled, nodeOf, type Run } from "../../protocol/run.ts";
import type { WorkflowEdge, WorkflowNode } from "../../protocol/workflow.ts";
import { DEFAULT_TRIGGER_RULE, ruleOf } from "./graph.ts";
import type { Plan } from "./plan.ts";

/** Paths of a condition that read the source of its edge. Any other path, and any expression, may read variables. */
const READS_SOURCE = /^(status|error|outputs?)(\.|$)/;

/**
 * Whether a node that starts over may be skipped: an edge on the way to it has a condition or a trigger rule, or comes from a
 * node that leads nowhere. The decision of a gate on the way does not count as a condition: a person makes it anew.
 *
 * @param startsOver whether the branch visits a node of this id anew, settled or not
 */
export function mayBeSkipped(
  { graph }: Plan,
  run: Run,
  nodeId: string,
  { startsOver, isGate }: { startsOver(id: string): boolean; isGate(node: WorkflowNode): boolean },
): boolean {
  const onTheWay = new Set([nodeId]);
  const isSure = (edge: WorkflowEdge): boolean => {
    if (ruleOf(edge) !== DEFAULT_TRIGGER_RULE) return false;
    if (edge.condition === undefined) return true;
    const { expression, left = "" } = edge.condition;
    const source = graph.node.get(edge.sourceNodeId);
    return expression === undefined && READS_SOURCE.test(left) && source !== undefined && isGate(source);
  };
  for (const id of onTheWay) {
    for (const edge of graph.forwardInto.get(id) ?? []) {
      if (!isSure(edge)) return true;
      const state = nodeOf(run, edge.sourceNodeId);
      if (!isSettled(state) || startsOver(edge.sourceNodeId)) onTheWay.add(edge.sourceNodeId);
      else if (state.status !== "completed" || state.verdict !== undefined) return true;
    }
  }
  return false;
}
