import type { WorkflowEdge, WorkflowNode } from "../../protocol/workflow.ts";
import type { Plan } from "./plan.ts";

/** Paths of a condition that read the source of its edge. Any other path, and any expression, may read variables. */
const READS_SOURCE = /^(status|error|outputs?)(\.|$)/;

/**
 * Whether a node that starts over will run as long as no node before it fails, whatever the variables hold. What a gate before it
 * decides is no obstacle: a person makes that decision anew.
 *
 * @param sure the nodes that are certain to complete
 */
export function isSureToRun(
  { graph }: Plan,
  { id, disabled }: WorkflowNode,
  sure: ReadonlySet<string>,
  isGate: (node: WorkflowNode) => boolean,
): boolean {
  const isSure = ({ sourceNodeId, condition }: WorkflowEdge): boolean => {
    if (!sure.has(sourceNodeId)) return false;
    if (condition === undefined) return true;
    const source = graph.node.get(sourceNodeId);
    const readsSource = condition.expression === undefined && READS_SOURCE.test(condition.left ?? "");
    return readsSource && source !== undefined && isGate(source);
  };
  if (disabled) return false;
  return (graph.rulesInto.get(id) ?? []).every(([rule, edges]) => {
    if (rule === "any_failed") return false;
    return rule === "all_success" ? edges.every(isSure) : edges.some(isSure);
  });
}
